import { Command, CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import type { Connect } from "../../src/cli/live-cluster.ts";
import { topCommand } from "../../src/cli/top-command.ts";
import { type FakeWorld, fakeIo } from "../conversion/fake-io.ts";
import { fakeCluster, stored } from "../snapshot/fake-cluster.ts";

async function top(args: readonly string[], { connect, ...world }: FakeWorld & { readonly connect?: Connect } = {}) {
  const io = fakeIo(world);
  try {
    const command = topCommand(io, { ...(connect && { connect }) });
    await new Command("karpenter").addCommand(command).parseAsync(["top", ...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return { out: io.out(), err: io.err(), code: io.code() ?? 0 };
}

const pool = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidateAfter: 0s}
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
`;

/** A claim and its Node, with one pod. */
function claimed(name: string, cpu: string, annotations = "{}"): string {
  return `
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: ${name}
  creationTimestamp: "2026-01-13T12:00:00Z"
  labels:
    karpenter.sh/nodepool: default
    node.kubernetes.io/instance-type: c-8x-amd64-linux
    topology.kubernetes.io/zone: test-zone-a
    karpenter.sh/capacity-type: on-demand
---
{apiVersion: v1, kind: Node, metadata: {name: ${name}}}
---
apiVersion: v1
kind: Pod
metadata: {name: on-${name}, annotations: ${annotations}}
spec:
  nodeName: ${name}
  containers: [{name: app, image: app, resources: {requests: {cpu: "${cpu}", memory: 4Gi}}}]
`;
}

/** A node of an EKS node group, with two GPUs and a pod that uses one. */
const ofNodeGroup = `
---
apiVersion: v1
kind: Node
metadata:
  name: ip-10-0-1-17
  creationTimestamp: "2026-01-15T11:15:00Z"
  labels:
    eks.amazonaws.com/nodegroup: group-1
    eks.amazonaws.com/capacityType: ON_DEMAND
    beta.kubernetes.io/instance-type: g5.xlarge
    failure-domain.beta.kubernetes.io/zone: us-east-1b
spec: {providerID: "aws:///us-east-1b/i-0123", unschedulable: true}
status:
  allocatable: {cpu: 3920m, memory: 14Gi, pods: "58", nvidia.com/gpu: "2"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeName: ip-10-0-1-17
  containers: [{name: app, image: app, resources: {limits: {nvidia.com/gpu: "1"}, requests: {cpu: "2"}}}]
---
{apiVersion: v1, kind: Pod, metadata: {name: done}, spec: {nodeName: ip-10-0-1-17, containers: [{name: app}]}, status: {phase: Succeeded}}
---
{apiVersion: v1, kind: Pod, metadata: {name: waits}, spec: {containers: [{name: app, resources: {requests: {cpu: "1"}}}]}}
`;

const held = '{"karpenter.sh/do-not-disrupt": "true"}';
const mixed = [pool, claimed("a", "3"), claimed("b", "6", held), ofNodeGroup].join("");
const now = ["--now", "2026-01-15T12:00:00Z"];

describe("karpenter top of files", () => {
  it("shows use, pods, age, price and the reason of each node, whoever made it, and sums", async () => {
    const { out, err, code } = await top(["-f", "all.yaml", ...now], { files: { "all.yaml": mixed } });
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toBe(
      `NODE          POOL     TYPE              CAPACITY   ZONE         STATUS           CPU          MEMORY      GPU   PODS  AGE  $/HOUR  WHY IT STAYS OR GOES
a             default  c-8x-amd64-linux  on-demand  test-zone-a  Ready      3/7.9 38%  4.0/16.0Gi 25%        -  1/128   2d  0.2172  Underutilized: would replace it, which saves $0.1086/hour
b             default  c-8x-amd64-linux  on-demand  test-zone-a  Ready      6/7.9 76%  4.0/16.0Gi 25%        -  1/128   2d  0.2172  pod default/on-b has the annotation karpenter.sh/do-not-disrupt
ip-10-0-1-17  group-1  g5.xlarge         on-demand  us-east-1b   Cordoned  2/3.92 51%   0.0/14.0Gi 0%  1/2 50%   1/58  45m  1.0060  Karpenter does not manage it

3 nodes, 3 pods on them, 1 pending
cpu     56%  11 of 19.72 requested
memory  17%  8.0Gi of 46.0Gi requested
gpu     50%  1 of 2 requested
$1.4404/hour, $1051.46/month
Price (1 node): list price of us-east-1 on 2026-07-20.
Price (2 nodes): made up: no cloud offers these instance types.
`,
    );
  });

  it("prints the same as JSON, with exact amounts", async () => {
    const { out } = await top(["-f", "all.yaml", "-o", "json", ...now], { files: { "all.yaml": mixed } });
    const report = JSON.parse(out);
    expect(report.time).toBe("2026-01-15T12:00:00Z");
    expect(report.nodes[1]).toEqual({
      name: "b",
      nodeClaim: "b",
      pool: "default",
      instanceType: "c-8x-amd64-linux",
      capacityType: "on-demand",
      zone: "test-zone-a",
      status: "Ready",
      pods: 1,
      maxPods: 128,
      requested: { cpu: 6, memory: 4 * 2 ** 30, gpu: 0 },
      allocatable: { cpu: 7.9, memory: 17169383424, gpu: 0 },
      pricePerHour: expect.closeTo(0.21718, 5),
      priceSource: { kind: "simulated" },
      created: "2026-01-13T12:00:00Z",
      outcome: "kept",
      reason: "pod default/on-b has the annotation karpenter.sh/do-not-disrupt",
    });
    expect(report.totals).toEqual({
      nodes: 3,
      pods: 3,
      pendingPods: 1,
      requested: { cpu: 11, memory: 8 * 2 ** 30, gpu: 1 },
      allocatable: { cpu: expect.closeTo(19.72, 5), memory: 2 * 17169383424 + 14 * 2 ** 30, gpu: 2 },
      pricePerHour: expect.closeTo(1.44036, 4),
      pricePerMonth: expect.closeTo(1051.46, 1),
      nodesWithoutPrice: 0,
    });
  });

  it("sorts by what is asked for, the largest first", async () => {
    const names = async (key: string) => {
      const { out } = await top(["-f", "all.yaml", "-o", "json", "--sort", key, ...now], {
        files: { "all.yaml": mixed },
      });
      return (JSON.parse(out).nodes as readonly { name: string }[]).map(({ name }) => name);
    };
    expect(await names("price")).toEqual(["ip-10-0-1-17", "a", "b"]);
    expect(await names("cpu")).toEqual(["b", "ip-10-0-1-17", "a"]);
    expect(await names("age")).toEqual(["a", "b", "ip-10-0-1-17"]);
  });

  it("shows a claim whose Node has not joined yet", async () => {
    const [claim = ""] = claimed("c", "1").split("---").slice(1);
    const { out } = await top(["-f", "all.yaml", "-o", "json", ...now], {
      files: { "all.yaml": `${pool}---${claim}` },
    });
    const [row] = JSON.parse(out).nodes;
    expect(row).toMatchObject({ name: "c", nodeClaim: "c", status: "Joining", pods: 0, allocatable: { cpu: 7.9 } });
  });

  it("says that a cluster has no nodes", async () => {
    const { out, code } = await top(["-f", "all.yaml"], { files: { "all.yaml": pool } });
    expect({ out, code }).toEqual({ out: "0 nodes, 0 pods on them, 0 pending\n", code: 0 });
  });

  it("names the region whose prices are not known, and does not invent one", async () => {
    const elsewhere = ofNodeGroup.replaceAll("us-east-1b", "xx-north-9b");
    const { out } = await top(["-f", "all.yaml", ...now], { files: { "all.yaml": elsewhere } });
    expect(out).toContain("no prices are known");
    expect(out).toContain("note: prices of region xx-north-9 are not known offline");
  });

  it("ends with the code of bad input, or of a wrong command line", async () => {
    const broken = "apiVersion: v1\nkind: Node\nmetadata: 3\n";
    expect((await top(["-f", "broken.yaml"], { files: { "broken.yaml": broken } })).code).toBe(1);
    const both = await top(["-f", "x.yaml", "--context", "prod"]);
    expect(both.code).toBe(2);
    expect(both.err).toContain("choose one of them");
  });
});

describe("karpenter top of a live cluster", () => {
  const objects = stored(
    parseAllDocuments(
      `${pool}${claimed("a", "3").replace("{apiVersion: v1, kind: Node, metadata: {name: a}}", "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: '8', memory: 16Gi, pods: '110'}, conditions: [{type: Ready, status: 'True'}]}}")}${ofNodeGroup}`,
    ).map((one) => one.toJS() as KubeObject),
  );
  const rowsOf = ({ out }: { readonly out: string }) =>
    (JSON.parse(out).nodes as readonly { name: string; pricePerHour: number; reason?: string }[]).map(
      ({ name, reason }) => ({ name, reason }),
    );

  it("needs no options: the current context is meant", async () => {
    const ran = await top(["-o", "json"], { connect: fakeCluster(objects) });
    expect(ran.err).toBe("");
    expect(rowsOf(ran).map(({ name }) => name)).toEqual(["a", "ip-10-0-1-17"]);
    expect(rowsOf(ran)[1]?.reason).toBe("Karpenter does not manage it");
  });

  it("shows nodes of a cluster without Karpenter", async () => {
    const absent = ["NodePool", "NodeClaim", "NodeOverlay", "CapacityBuffer", "EC2NodeClass", "KWOKNodeClass"];
    const ran = await top(["-o", "json"], { connect: fakeCluster(objects, { absent }) });
    expect(JSON.parse(ran.out).totals).toMatchObject({ nodes: 2, pods: 2, pendingPods: 1 });
  });

  it("shows what it may read, and says what it may not", async () => {
    const forbidden = ["NodePool", "Pod"];
    const ran = await top([], { connect: fakeCluster(objects, { forbidden }) });
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("note: not allowed to list Pod: pods is forbidden; grant the list verb on it");
    expect(ran.out).toContain("2 nodes, 0 pods on them, 0 pending");
  });

  it("ends with an error where nodes may not be read, or nothing answers", async () => {
    const hidden = await top([], { connect: fakeCluster(objects, { forbidden: ["Node"] }) });
    expect(hidden.code).toBe(1);
    expect(hidden.err).toContain("error: not allowed to list Node");
    const silent = await top([], { connect: () => Promise.reject(new Error("connect ECONNREFUSED")) });
    expect(silent.code).toBe(1);
    expect(silent.err).toContain("cannot read the cluster: connect ECONNREFUSED");
  });

  it("shows nodes though an object of the cluster does not allow a plan, and says so", async () => {
    const bad = stored([
      {
        apiVersion: "karpenter.sh/v1",
        kind: "NodePool",
        metadata: { name: "bad" },
        spec: { weight: -3, template: { spec: {} } },
      },
    ]);
    const ran = await top([], { connect: fakeCluster([...objects, ...bad]) });
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/note: why nodes stay is not shown: \d errors? in the objects of the cluster/);
  });
});
