import { describe, expect, it } from "vitest";
import type { RepackReport } from "../../src/cli/plan/repack-report.ts";
import { plan } from "../scenarios/run.ts";
import { nodeManifest, poolManifest } from "./disruption-manifests.ts";

const pool = poolManifest('{consolidateAfter: 0s, budgets: [{nodes: "2"}]}');

function node(name: string, annotations = "{}"): string {
  return nodeManifest(name, { pods: ["1"], annotations });
}

const held = '{"karpenter.sh/do-not-disrupt": "true"}';
const files = { "cluster.yaml": [pool, node("a"), node("b"), node("c"), node("d", held)].join("") };
const args = ["-f", "cluster.yaml", "--repack", "--now", "2026-01-15T12:00:00Z"];

describe("plan --repack", () => {
  it("shows the commands in waves, then prices, then the nodes that stay", async () => {
    const { out, err, code } = await plan(args, { files });
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toBe(`Wave 1, $0.4344/hour after it:
  delete a, b: saves $0.4344/hour
    to c: default/on-a-0, default/on-b-0

Wave 2, $0.2172/hour after it:
  delete c: saves $0.2172/hour
    to d: default/on-a-0, default/on-b-0, default/on-c-0

CLUSTER               NODES  $/HOUR  $/MONTH
today                     4  0.8687   634.17
after these commands      1  0.2172   158.54
packed from nothing       2  0.1629   118.91
lower bound                  0.1086    79.30
Price: made up: no cloud offers these instance types.

2 commands in 2 waves save $0.6515/hour. A wave begins when the nodes of the one before are gone and consolidateAfter has passed.

NODE THAT STAYS  POOL     WHY
d                default  pod default/on-d-0 has the annotation karpenter.sh/do-not-disrupt
`);
  });

  it("prints all of it as JSON", async () => {
    const { out } = await plan([...args, "-o", "json"], { files });
    const report = JSON.parse(out) as RepackReport;
    expect(report.today).toEqual({ nodes: 4, pricePerHour: expect.closeTo(0.8687, 3) });
    expect(report.steps.map(({ wave, method, nodes }) => ({ wave, method, nodes }))).toEqual([
      { wave: 1, method: "multi-node-consolidation", nodes: ["a", "b"] },
      { wave: 2, method: "multi-node-consolidation", nodes: ["c"] },
    ]);
    expect(report.steps.at(-1)?.pricePerHour).toBe(report.reached.pricePerHour);
    expect(report.lowerBoundPerHour).toBeLessThanOrEqual(report.repacked.pricePerHour);
    expect(report.repacked.newNodes).toHaveLength(2);
    expect(report.staying).toMatchObject([{ node: "d", code: "pod-protected" }]);
    expect(report.isStopped).toBe(false);
  });

  it("03:D-21 says what keeps an empty node, and counts one command as one", async () => {
    const closed = pool.replace('budgets: [{nodes: "2"}]', 'budgets: [{nodes: "0"}]');
    const shut = await plan(args, { files: { "cluster.yaml": `${closed}${nodeManifest("a")}` } });
    expect(shut.out).toContain(
      "a                default  the budgets of NodePool default allow no disruption of empty nodes now\n",
    );
    const open = await plan(args, { files: { "cluster.yaml": `${pool}${nodeManifest("a")}` } });
    expect(open.out).toContain("\n1 command in 1 wave saves $0.2172/hour.");
  });

  it("places pods that wait first, and exits with 3 if one has no place", async () => {
    const waiting = `
---
{apiVersion: v1, kind: Pod, metadata: {name: waits}, spec: {containers: [{name: app, image: app, resources: {requests: {cpu: "500"}}}]}}
`;
    const { out, code } = await plan(args, { files: { "cluster.yaml": files["cluster.yaml"] + waiting } });
    expect(code).toBe(3);
    expect(out).toContain("First 1 pod that waits for a node gets one: 0 new nodes.");
    expect(out).toContain("Without a place: default/waits; karpenter explain pod says why.");
  });

  it.each([
    ["-o", "nodeclaims"],
    ["--disruption"],
    ["--disruption-mode", "upstream"],
    ["--multi-replacement"],
    ["--nominated", "a"],
  ])("is not combined with %s", async (...more) => {
    const { err, code } = await plan([...args, ...more], { files });
    expect(code).toBe(2);
    expect(err).toContain(`error: ${more.join(" ").replace(" a", "")} cannot be combined with --repack`);
  });
});
