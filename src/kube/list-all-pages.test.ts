import { expect, it } from "vitest";
import type { KubeObject } from "../api/object.ts";
import type { KubeClient, ListOptions } from "./client.ts";
import { listAllPages } from "./list-all-pages.ts";
import { builtInTypes } from "./resources.ts";

const object = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Node", metadata: { name } });

it("requests pages until there is none left", async () => {
  const asked: (ListOptions | undefined)[] = [];
  const list = async (_: unknown, options?: ListOptions) => {
    asked.push(options);
    const at = Number(options?.continue ?? 0);
    const more = at < 2 ? { continue: String(at + 1) } : {};
    return { items: [object(`n${at}`)], resourceVersion: "7", ...more };
  };
  const names: (string | undefined)[] = [];
  for await (const page of listAllPages({ list } as Pick<KubeClient, "list">, builtInTypes.Node, {
    labelSelector: "a=b",
  })) {
    for (const { metadata } of page) names.push(metadata.name);
  }
  expect(names).toEqual(["n0", "n1", "n2"]);
  expect(asked.map((one) => [one?.labelSelector, one?.limit, one?.continue])).toEqual([
    ["a=b", 500, undefined],
    ["a=b", 500, "1"],
    ["a=b", 500, "2"],
  ]);
});
