import { describe, expect, it } from "vitest";
import type { DisruptionReport } from "../../src/cli/plan/disruption-report.ts";
import { disruptionDifferences, type ExpectedDisruption } from "./compare-disruption.ts";
import { plan, planDisruptionScenario, readScenario, scenariosIn } from "./run.ts";

const folder = "disruption";

describe("plans of the disruption scenarios", () => {
  const names = scenariosIn(folder);

  it("are all there", () => {
    expect(names).toHaveLength(58);
  });

  it.each(names.map((name) => [titleOf(name), name]))("03:%s", async (_, name) => {
    const expected = JSON.parse(readScenario(folder, `${name}.expected.json`)) as ExpectedDisruption;
    const upstream = await planDisruptionScenario(name, "upstream");
    expect(disruptionDifferences(expected, upstream, "strict")).toEqual([]);
    // The controller takes the same path: in this mode it does what the acting method found.
    expect(upstream.next?.method ?? "none").toBe(upstream.acts);
    const acting = upstream.methods.find(({ method }) => method === upstream.acts);
    expect(upstream.next?.commands).toEqual(acting?.commands);
    const usual = await planDisruptionScenario(name, "default");
    expect(disruptionDifferences(expected, usual, "default")).toEqual([]);
  });
});

describe("comparing what disruption would do", () => {
  const expected = JSON.parse(readScenario(folder, "056-fleet.expected.json")) as ExpectedDisruption;
  const passes = (changed: unknown): readonly string[] =>
    (["default", "strict"] as const).filter(
      (level) => disruptionDifferences(expected, changed as ExpectedDisruption, level).length === 0,
    );

  it.each([
    ["itself", (text: string) => text, ["default", "strict"]],
    ["another acting method", (text: string) => text.replace('"acts":"emptiness"', '"acts":"drift"'), []],
    ["another node", (text: string) => text.replace('"nodes":["empty"]', '"nodes":["held"]'), []],
    ["a candidate less", (text: string) => text.replace('"candidates":["old"]', '"candidates":[]'), ["default"]],
    ["another budget", (text: string) => text.replace('"default":5', '"default":4'), ["default"]],
    ["another type", (text: string) => text.replace('["c-8x-amd64-linux"]', '["c-9x-amd64-linux"]'), ["default"]],
    ["another destination", (text: string) => text.replace('"busy":["default/legacy"]', '"busy":[]'), ["default"]],
  ])("%s", (_, change, levels) => {
    expect(passes(JSON.parse(change(JSON.stringify(expected))))).toEqual(levels);
  });
});

describe("plan --disruption", () => {
  it("02:V-5e mode upstream leaves out a pending pod whose claim has yet to be bound, without --rounds 1 too", async () => {
    const ran = await plan(["-f", "cluster.yaml", "--disruption", "--disruption-mode", "upstream", "-o", "json"], {
      files: { "cluster.yaml": pendingPodWithUnboundClaim },
    });
    const { methods } = JSON.parse(ran.out) as DisruptionReport;
    const commands = methods.flatMap(({ method, commands: own }) => own.map((command) => ({ method, command })));
    expect(commands).toMatchObject([
      { method: "single-node-consolidation", command: { decision: "delete", nodes: ["dear"], replacements: [] } },
    ]);
  });
});

const pendingPodWithUnboundClaim = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidateAfter: 0s, budgets: [{nodes: 100%}]}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: dear
  labels:
    karpenter.sh/nodepool: default
    node.kubernetes.io/instance-type: c-4x-amd64-linux
    topology.kubernetes.io/zone: test-zone-a
    karpenter.sh/capacity-type: on-demand
---
apiVersion: v1
kind: Node
metadata: {name: dear}
---
apiVersion: v1
kind: Node
metadata: {name: ours, labels: {topology.kubernetes.io/zone: test-zone-b}}
status:
  capacity: {cpu: "2", memory: 4Gi, pods: "10"}
  allocatable: {cpu: "2", memory: 4Gi, pods: "10"}
---
apiVersion: v1
kind: Pod
metadata: {name: runs}
spec: {nodeName: dear, containers: [{name: app, image: app, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: waits}
spec:
  containers: [{name: app, image: app, resources: {requests: {cpu: "16"}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeName: data}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: data}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: disk.example.com, volumeHandle: data}}
`;

/** The first line of a scenario names the rule it exercises. */
function titleOf(name: string): string {
  const [first = ""] = readScenario(folder, `${name}.yaml`).split("\n", 1);
  return `${first.replace(/^# /, "")} (${name})`;
}
