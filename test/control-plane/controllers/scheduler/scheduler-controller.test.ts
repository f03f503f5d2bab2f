import { afterEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../src/api/object.ts";
import { conditionOfType } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { ClusterWorld, type ClusterWorldOptions, podObject } from "../cluster-world.ts";

const running: ClusterWorld[] = [];
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

async function started(options: ClusterWorldOptions = {}): Promise<ClusterWorld> {
  const cluster = await new ClusterWorld(options).start();
  running.push(cluster);
  return cluster;
}

describe("05:CP-L9 the scheduler", () => {
  it("05:CP-L9 binds a pod and says so", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.create(builtInTypes.Pod, podObject("web"));
    await cluster.pass(1);
    const pod = await cluster.pod("web");
    expect(pod.spec.nodeName).toBe("node-1");
    expect(conditionOfType(pod, "PodScheduled")?.status).toBe("True");
    expect(await cluster.events("Scheduled")).toEqual(["Successfully assigned default/web to node-1"]);
  });

  it("05:CP-L9 tells why in the familiar words, as condition and event", async () => {
    const taint = { key: "dedicated", value: "db", effect: "NoSchedule" };
    const cluster = await started({
      nodes: 3,
      instance: (one) => (one.nodeName === "node-1" ? one : { ...one, taints: [taint] }),
    });
    await cluster.create(builtInTypes.Pod, podObject("big", { cpu: "5" }));
    await cluster.pass(1);
    const message =
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: db}. " +
      "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
    expect(conditionOfType(await cluster.pod("big"), "PodScheduled")).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message,
    });
    expect(await cluster.events("FailedScheduling")).toEqual([message]);
  });

  it("05:CP-L9 says when there are no nodes, and schedules when one comes", async () => {
    const cluster = await started({
      nodes: 1,
      instance: (one) => ({ ...one, bootMs: 60_000 }),
    });
    await cluster.create(builtInTypes.Pod, podObject("early"));
    await cluster.pass(30);
    expect(conditionOfType(await cluster.pod("early"), "PodScheduled")?.message).toBe(
      "no nodes available to schedule pods",
    );
    await cluster.pass(31);
    expect((await cluster.pod("early")).spec.nodeName).toBe("node-1");
  });

  it("05:CP-L9 leaves gated pods alone until their gates are gone", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.create(builtInTypes.Pod, podObject("gated", { spec: { schedulingGates: [{ name: "wait" }] } }));
    await cluster.pass(5);
    const gated = await cluster.pod("gated");
    expect(gated.spec.nodeName).toBeUndefined();
    expect(conditionOfType(gated, "PodScheduled")?.reason).toBe("SchedulingGated");
    const patch = { kind: "merge", body: { spec: { schedulingGates: null } } } as const;
    await cluster.client.patch(builtInTypes.Pod, { name: "gated", namespace: "default" }, patch);
    await cluster.pass(5);
    expect((await cluster.pod("gated")).spec.nodeName).toBe("node-1");
  });

  it("05:CP-L9 leaves pods of other schedulers alone", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.create(builtInTypes.Pod, podObject("other", { spec: { schedulerName: "mine" } }));
    await cluster.pass(5);
    expect((await cluster.pod("other")).spec.nodeName).toBeUndefined();
  });

  it("05:CP-L9 schedules the most important first", async () => {
    const cluster = await started({ nodes: 1, instance: (one) => ({ ...one, bootMs: 10_000 }) });
    await priorityClass(cluster, "high", 100);
    for (const name of ["low-1", "low-2"]) await cluster.create(builtInTypes.Pod, podObject(name, { cpu: "3" }));
    await cluster.create(builtInTypes.Pod, podObject("high", { cpu: "3", spec: { priorityClassName: "high" } }));
    await cluster.pass(15);
    const placed = (await cluster.pods()).filter(({ spec }) => spec.nodeName !== undefined);
    expect(placed.map(({ metadata }) => metadata.name)).toEqual(["high"]);
    expect(await cluster.events("Preempted")).toEqual([]);
  });

  it("05:CP-L9 spreads by default and packs on a flag", async () => {
    const nodesOf = async (packing: "least-allocated" | "most-allocated"): Promise<number> => {
      const cluster = await started({ nodes: 3, controllers: { scheduler: { packing } } });
      for (let at = 0; at < 6; at++)
        await cluster.create(builtInTypes.Pod, podObject(`p-${at}`, { cpu: "500m", memory: "1Gi" }));
      await cluster.pass(5);
      return new Set((await cluster.pods()).map(({ spec }) => spec.nodeName)).size;
    };
    expect([await nodesOf("least-allocated"), await nodesOf("most-allocated")]).toEqual([3, 1]);
  });

  it("05:CP-L9 makes room by preemption: nominates, deletes gracefully, then binds", async () => {
    const cluster = await started({ nodes: 1 });
    await priorityClass(cluster, "high", 100);
    await cluster.create(builtInTypes.Pod, podObject("low", { cpu: "3", spec: { terminationGracePeriodSeconds: 10 } }));
    await cluster.pass(10);
    await cluster.create(builtInTypes.Pod, podObject("high", { cpu: "3", spec: { priorityClassName: "high" } }));
    await cluster.pass(0.2);
    expect((await cluster.pod("high")).status?.nominatedNodeName).toBe("node-1");
    const victim = await cluster.pod("low");
    expect(victim.metadata.deletionTimestamp).toBeDefined();
    expect(conditionOfType(victim, "DisruptionTarget")?.reason).toBe("PreemptionByScheduler");
    await cluster.pass(20);
    expect(await cluster.findPod("low")).toBeUndefined();
    expect((await cluster.pod("high")).spec.nodeName).toBe("node-1");
    expect(await cluster.events("Preempted")).toHaveLength(1);
  });

  it("05:CP-L9 keeps the room it made for the pod it made it for", async () => {
    const cluster = await started({ nodes: 1 });
    await priorityClass(cluster, "high", 100);
    const slow = { "sim.karpenter.sh/stop-seconds": "20" };
    await cluster.create(builtInTypes.Pod, podObject("low", { cpu: "2", annotations: slow }));
    await cluster.pass(10);
    await cluster.create(builtInTypes.Pod, podObject("high", { cpu: "4", spec: { priorityClassName: "high" } }));
    await cluster.pass(1);
    // It would fit beside the one that is leaving, but not beside the one that is coming.
    await cluster.create(builtInTypes.Pod, podObject("small", { cpu: "1" }));
    await cluster.pass(60);
    expect((await cluster.pod("high")).spec.nodeName).toBe("node-1");
    expect((await cluster.pod("small")).spec.nodeName).toBeUndefined();
    expect(await cluster.events("Preempted")).toHaveLength(1);
  });

  it("05:CP-L9 does not preempt for a pod whose policy is never to", async () => {
    const cluster = await started({ nodes: 1 });
    await priorityClass(cluster, "polite", 100, { preemptionPolicy: "Never" });
    await cluster.create(builtInTypes.Pod, podObject("low", { cpu: "3" }));
    await cluster.pass(10);
    await cluster.create(builtInTypes.Pod, podObject("polite", { cpu: "3", spec: { priorityClassName: "polite" } }));
    await cluster.pass(20);
    expect((await cluster.pod("low")).metadata.deletionTimestamp).toBeUndefined();
    expect(conditionOfType(await cluster.pod("polite"), "PodScheduled")?.message).toContain("preemptionPolicy=Never");
  });

  it("05:CP-L9 would rather preempt where no disruption budget is broken", async () => {
    const cluster = await started({ nodes: 2 });
    await priorityClass(cluster, "high", 100);
    const on = (node: string) => ({ nodeSelector: { "kubernetes.io/hostname": node } });
    await cluster.create(builtInTypes.Pod, podObject("plain", { cpu: "3", spec: on("node-2") }));
    await cluster.pass(5);
    // The younger, and on the first node: without its budget it would be the one to go.
    const labels = { app: "guarded" };
    await cluster.create(builtInTypes.Pod, podObject("guarded", { cpu: "3", labels, spec: on("node-1") }));
    await cluster.create(builtInTypes.PodDisruptionBudget, {
      metadata: { name: "guard", namespace: "default" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } },
    });
    await cluster.pass(5);
    await cluster.create(builtInTypes.Pod, podObject("high", { cpu: "3", spec: { priorityClassName: "high" } }));
    await cluster.pass(60);
    expect(await cluster.findPod("plain")).toBeUndefined();
    expect((await cluster.pod("guarded")).metadata.deletionTimestamp).toBeUndefined();
    expect((await cluster.pod("high")).spec.nodeName).toBeDefined();
  });

  it("05:CP-L9 tries again when a pod goes, and not before its back-off", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.create(builtInTypes.Pod, podObject("first", { cpu: "3" }));
    await cluster.pass(5);
    await cluster.create(builtInTypes.Pod, podObject("second", { cpu: "3" }));
    await cluster.pass(60);
    expect((await cluster.pod("second")).spec.nodeName).toBeUndefined();
    const gone = { gracePeriodSeconds: 0 };
    await cluster.client.delete(builtInTypes.Pod, { name: "first", namespace: "default" }, gone);
    await cluster.pass(0.1);
    expect((await cluster.pod("second")).spec.nodeName).toBe("node-1");
  });

  it("05:CP-L9 tries a pod again when the one it wants to be near gets its place", async () => {
    const cluster = await started({ nodes: 2 });
    const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "leader" } } };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await cluster.create(builtInTypes.Pod, podObject("follower", { spec: { affinity } }));
    await cluster.pass(30);
    expect(conditionOfType(await cluster.pod("follower"), "PodScheduled")?.message).toContain(
      "2 node(s) didn't match pod affinity rules",
    );
    await cluster.create(builtInTypes.Pod, podObject("leader", { labels: { app: "leader" } }));
    await cluster.pass(1);
    const [follower, leader] = [await cluster.pod("follower"), await cluster.pod("leader")];
    expect(follower.spec.nodeName).toBe(leader.spec.nodeName);
    expect(follower.spec.nodeName).toBeDefined();
  });

  it("05:CP-L9 goes on after a restart in the middle", async () => {
    const cluster = await started({ nodes: 3 });
    for (let at = 0; at < 40; at++) await cluster.create(builtInTypes.Pod, podObject(`p-${at}`, { cpu: "100m" }));
    await cluster.restart();
    for (let at = 40; at < 80; at++) await cluster.create(builtInTypes.Pod, podObject(`p-${at}`, { cpu: "100m" }));
    await cluster.restart();
    await cluster.pass(30);
    const phases = (await cluster.pods()).map(({ status }) => status?.phase);
    expect(phases).toEqual(Array.from({ length: 80 }, () => "Running"));
    expect(cluster.failures).toEqual([]);
  });
});

function priorityClass(
  cluster: ClusterWorld,
  name: string,
  value: number,
  more: Readonly<Record<string, unknown>> = {},
): Promise<KubeObject> {
  return cluster.create(builtInTypes.PriorityClass, { metadata: { name }, value, ...more });
}
