import { expect, it } from "vitest";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { World } from "../determinism/world.ts";
import { podObject } from "./cluster-world.ts";

it("05:CP-L13 usage of a running cluster is what metrics.k8s.io answers", async () => {
  const world = new World({ seed: "usage", nodes: 2 });
  world.start();
  await world.client.create(builtInTypes.Pod, {
    apiVersion: "v1",
    kind: "Pod",
    ...podObject("web", { cpu: "1", memory: "1Gi" }),
  });
  await world.pass(10);
  const names = async (plural: string, namespace?: string) => {
    const kind = world.api.kinds.get({ group: "metrics.k8s.io", version: "v1beta1", plural });
    return (await world.api.list(kind, { namespace })).items.map(({ metadata }) => metadata.name);
  };
  expect(await names("nodes")).toEqual(["node-1", "node-2"]);
  expect(await names("pods")).toEqual(["web"]);
  expect(await names("pods", "kube-system")).toEqual([]);
  await world.stop();
});
