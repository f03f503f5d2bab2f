import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { completeObjects } from "../../src/core/scenario/complete-objects.ts";
import { expandWorkloads } from "../../src/core/scenario/expand-workloads.ts";
import { withoutNulls } from "../../src/core/scenario/without-nulls.ts";
import { fakeInstanceTypes, kwokInstanceTypes } from "../../src/providers/kwok/index.ts";
import { Quantity } from "../../src/util/quantity.ts";
import { plan, planScenario, readScenario, scenariosIn } from "./run.ts";

const names = scenariosIn("expanded", ".json");
const nowMs = Date.parse("2026-01-15T12:00:00Z");

/** Objects as upstream's API server and controllers complete them, for a reader that would rather not derive them. */
describe("scenarios with every default filled in", () => {
  it.each(names.map((name) => [name]))("%s: our completion says the same", (name) => {
    const text = readScenario("scheduling", `${name}.yaml`);
    const types = text.includes("fake:6") ? fakeInstanceTypes(6) : kwokInstanceTypes();
    const completed = (objects: readonly unknown[]): readonly KubeObject[] =>
      completeObjects(
        expandWorkloads(objects.map((object) => withoutNulls(object) as KubeObject)).objects.map((one) => one.object),
        {
          typesFor: () => types,
          nowMs,
          defaultNodeClass: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        },
      );
    const written = parseAllDocuments(text).map((document) => document.toJS() as unknown);
    const { items } = JSON.parse(readScenario("expanded", `${name}.json`)) as { items: readonly unknown[] };
    expect(completed(written).map(comparable)).toEqual(items.map(comparable));
    expect(completed(items).map(comparable)).toEqual(items.map(comparable)); // what is said is never changed
  });

  it.each(names.map((name) => [name]))("%s: both readings have the same plan", async (name) => {
    const full = await planScenario("expanded", name, { file: `${name}.json`, flagsFrom: "scheduling" });
    const short = await planScenario("scheduling", name);
    expect(full).toEqual(short);
  });

  it("reads a long file and a short one alike", async () => {
    const { items } = JSON.parse(readScenario("expanded", `${names[0]}.json`)) as { items: readonly unknown[] };
    const list = { apiVersion: "v1", kind: "List", items };
    const padded = {
      ...list,
      items: [
        ...items,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { x: "x".repeat(100_000) } },
      ],
    };
    const args = ["-f", "a.json", "-o", "json"];
    const [short, long] = await Promise.all(
      [list, padded].map((value) => plan(args, { files: { "a.json": JSON.stringify(value) } })),
    );
    const nodes = (ran: typeof short): unknown => JSON.parse(ran?.out ?? "").newNodes;
    expect(nodes(long)).toEqual(nodes(short));
  });
});

type Json = Readonly<Record<string, unknown>>;

/** Fields upstream's types cannot leave out, and what is only named differently, set aside. */
function comparable(object: unknown): unknown {
  const { kind, status, ...rest } = object as Json & { status?: Json };
  const told = kind === "DaemonSet" || kind === "PodDisruptionBudget" ? undefined : status;
  return { kind, ...(tidy({ ...rest, ...(told && { status: tidyStatus(told) }) }, "") as Json) };
}

function tidyStatus({ conditions, daemonEndpoints: _, nodeInfo: __, ...status }: Json): Json {
  const list = (conditions ?? []) as readonly { type: string; status: string }[];
  const settled = list
    .filter(({ status: is }) => is !== "Unknown")
    .map(({ type, status: is }) => ({ type, status: is }));
  return { ...status, conditions: settled.sort((a, b) => (a.type < b.type ? -1 : 1)) };
}

function tidy(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map((item) => tidy(item, path));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, field]) => [key, tidy(field, `${path}.${key}`)] as const);
    return Object.fromEntries(entries.filter(([, field]) => !isEmpty(field)));
  }
  if (/\.(requests|limits|capacity|allocatable)\./.test(path))
    return Quantity.tryParse(value as string)?.nano.toString();
  return typeof value === "string" ? value.replace(/^(oracle|plan):\/\//, "") : value;
}

function isEmpty(value: unknown): boolean {
  return (
    value === null ||
    value === undefined ||
    value === "" ||
    (typeof value === "object" && Object.keys(value).length === 0)
  );
}
