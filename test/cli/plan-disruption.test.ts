import { describe, expect, it, vi } from "vitest";
import type { DisruptionReport } from "../../src/cli/plan/disruption-report.ts";
import { plan } from "../scenarios/run.ts";
import { nodeManifest as node, poolManifest as pool } from "./disruption-manifests.ts";

const price = "Price: made up: no cloud offers these instance types.";

async function shown(...texts: readonly string[]): Promise<string> {
  const args = ["-f", "cluster.yaml", "--disruption", "--now", "2026-01-15T12:00:00Z"];
  const { out, err, code } = await plan(args, { files: { "cluster.yaml": texts.join("") } });
  expect([err, code]).toEqual(["", 0]);
  return out.replace(`${price}\n`, "");
}

vi.setConfig({ testTimeout: 30_000 }); // the first test waits for the catalogue to be loaded

describe("plan --disruption", () => {
  it("03:D-1 03:D-2 says of a node that could go that others go first, and of what acts what it does to the price", async () => {
    expect(await shown(pool(), node("a"), node("b", { pods: ["1"] }), node("c", { pods: ["1"] }))).toBe(`emptiness acts:
  delete a: saves $0.2172/hour

multi-node-consolidation would act if nothing before it did:
  delete b, c: saves $0.4344/hour
    to a: default/on-b-0, default/on-c-0

single-node-consolidation would act if nothing before it did:
  delete b: saves $0.2172/hour
    to a: default/on-b-0

3 nodes, $0.6515/hour. What acts saves $0.2172/hour.

NODE THAT STAYS  POOL     WHY
b                default  other nodes are disrupted first; deleting it would save $0.2172/hour
c                default  other nodes are disrupted first; deleting it would save $0.2172/hour
`);
  });

  it("03:D-45 says of a node that takes pods of others that it does", async () => {
    const nodes = [node("a", { pods: ["500m"] }), node("b", { type: "m-8x-amd64-linux", pods: ["500m"] })];
    const out = await shown(pool(), ...nodes, node("c", { type: "c-2x-amd64-linux", pods: ["100m"] }));
    expect(out).toContain("delete a, b: saves $0.4859/hour");
    expect(out).toMatch(/^c +default +pods of nodes that are disrupted first move here$/m);
  });

  it("03:D-28 says that others use the budget up first", async () => {
    const out = await shown(pool("{consolidateAfter: 0s, budgets: [{nodes: '1'}]}"), node("a"), node("b"));
    expect(out).toMatch(/^b .*allow 1 disruption of empty nodes at a time, and other nodes go first$/m);
  });

  it("03:D-8 names pods that are evicted without a place being looked for", async () => {
    const annotations = '{controller.kubernetes.io/pod-deletion-cost: "-2147483648"}';
    expect(await shown(pool(), node("a", { pods: ["1"], annotations }))).toContain(`emptiness acts:
  delete a: saves $0.2172/hour
    evicted without a place being looked for: default/on-a-0
`);
  });

  it("03:D-49 03:D-30 makes up no price: neither of a node whose type is not offered, nor of one the provider chooses", async () => {
    expect(await shown(pool(), node("a", { type: "gone", pods: ["1"] }))).toBe(`drift acts:
  replace a: changes the price by an unknown amount
    new c-2x-amd64-linux of NodePool default (on-demand, $0.0543/hour): default/on-a-0

1 node, $0.0000/hour, without 1 node of unknown price. What that saves is not known.
`);
    const drifted = node("a", { type: "gone" });
    expect(await shown(pool("{budgets: [{nodes: '1'}]}", "replicas: 1"), drifted)).toContain(`static-drift acts:
  replace a: changes the price by an unknown amount
    new node of the template of NodePool default (on-demand, price not known): no pods
`);
  });

  it("03:D-31 says that a replacement costs the same", async () => {
    const drifted = node("a", { type: "c-2x-amd64-linux", zone: "test-zone-b", pods: ["1"] });
    const inZone = pool().replace(
      "requirements:",
      "requirements:\n      - {key: topology.kubernetes.io/zone, operator: In, values: [test-zone-a]}",
    );
    const out = await shown(inZone, drifted);
    expect(out).toContain("replace a: costs the same\n");
    expect(out).toContain("1 node, $0.0543/hour. What acts costs the same.\n");
  });

  it("prints as data whether a saving is known, and how many nodes have no price", async () => {
    const args = ["-f", "cluster.yaml", "--disruption", "-o", "json"];
    const { out } = await plan(args, {
      files: { "cluster.yaml": [pool(), node("a", { type: "gone", pods: ["1"] })].join("") },
    });
    const { next, totals } = JSON.parse(out) as DisruptionReport;
    expect(next?.commands).toMatchObject([{ nodes: ["a"], isSavingKnown: false }]);
    expect(totals).toMatchObject({ nodes: 1, unpricedNodes: 1 });
  });
});
