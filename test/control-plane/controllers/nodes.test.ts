import { afterEach, describe, expect, it } from "vitest";
import { conditionOfType } from "../../../src/control-plane/controllers/api-pod-and-node.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { ClusterWorld, type ClusterWorldOptions, podObject } from "./cluster-world.ts";

const running: ClusterWorld[] = [];
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

async function started(options: ClusterWorldOptions = {}): Promise<ClusterWorld> {
  const cluster = await new ClusterWorld(options).start();
  running.push(cluster);
  await cluster.pass(5);
  return cluster;
}

async function taintsOf(cluster: ClusterWorld, name: string): Promise<readonly string[]> {
  return ((await cluster.node(name)).spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort();
}

const unreachable = ["node.kubernetes.io/unreachable:NoExecute", "node.kubernetes.io/unreachable:NoSchedule"];

describe("05:CP-L11 node lifecycle", () => {
  it("05:CP-L11 taints a node whose kubelet fell silent after forty seconds, and forgives it when it is back", async () => {
    const cluster = await started({ nodes: 2 });
    await cluster.create(builtInTypes.Pod, podObject("web", { spec: { nodeName: "node-1" } }));
    await cluster.pass(20);
    expect(conditionOfType(await cluster.pod("web"), "Ready")?.status).toBe("True");
    cluster.instances.setKubelet("node-1", "silent");
    await cluster.pass(30);
    expect(conditionOfType(await cluster.node("node-1"), "Ready")?.status).toBe("True");
    await cluster.pass(15);
    expect(conditionOfType(await cluster.node("node-1"), "Ready")).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
    });
    expect(await taintsOf(cluster, "node-1")).toEqual(unreachable);
    expect(await taintsOf(cluster, "node-2")).toEqual([]);
    expect(conditionOfType(await cluster.pod("web"), "Ready")?.status).toBe("False");

    cluster.instances.setKubelet("node-1", "healthy");
    await cluster.pass(5);
    expect(conditionOfType(await cluster.node("node-1"), "Ready")?.status).toBe("True");
    expect(await taintsOf(cluster, "node-1")).toEqual([]);
    expect(conditionOfType(await cluster.pod("web"), "Ready")?.status).toBe("True");
    await cluster.pass(3600);
    expect(await cluster.findPod("web")).toBeDefined();
  });

  it("05:CP-L11 evicts after five minutes, and never a pod that tolerates it for ever", async () => {
    const cluster = await started({ nodes: 1 });
    const forever = [{ key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" }];
    const minute = [{ ...forever[0], tolerationSeconds: 60 }];
    await cluster.create(builtInTypes.Pod, podObject("plain"));
    await cluster.create(builtInTypes.Pod, podObject("daemon", { spec: { tolerations: forever } }));
    await cluster.create(builtInTypes.Pod, podObject("hasty", { spec: { tolerations: minute } }));
    await cluster.pass(20);
    cluster.instances.setKubelet("node-1", "silent");
    const going = async () =>
      (await cluster.pods()).filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
    await cluster.pass(45 + 70);
    expect(await going()).toEqual(["hasty"]);
    await cluster.pass(300 - 90);
    expect(await going()).toEqual(["hasty"]);
    await cluster.pass(30);
    expect(await going()).toEqual(["hasty", "plain"]);
    expect(conditionOfType(await cluster.pod("plain"), "DisruptionTarget")?.reason).toBe("DeletionByTaintManager");
  });

  it("05:CP-L11 shows a node that says it is not ready", async () => {
    const cluster = await started({ nodes: 1 });
    cluster.instances.setKubelet("node-1", "not-ready");
    await cluster.pass(120);
    expect(conditionOfType(await cluster.node("node-1"), "Ready")?.status).toBe("False");
    const key = "node.kubernetes.io/not-ready";
    expect(await taintsOf(cluster, "node-1")).toEqual([`${key}:NoExecute`, `${key}:NoSchedule`]);
  });

  it("05:CP-L11 evicts at once what does not tolerate a NoExecute taint", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.create(builtInTypes.Pod, podObject("web"));
    await cluster.pass(10);
    const body = { spec: { taints: [{ key: "maintenance", effect: "NoExecute" }] } };
    await cluster.client.patch(builtInTypes.Node, { name: "node-1" }, { kind: "merge", body });
    await cluster.pass(5);
    expect(await cluster.findPod("web")).toBeUndefined();
    expect(await taintsOf(cluster, "node-1")).toEqual(["maintenance:NoExecute"]);
  });

  it("05:CP-L11 shows a cordon as a taint", async () => {
    const cluster = await started({ nodes: 1 });
    const patch = (unschedulable: boolean | null) => ({ kind: "merge", body: { spec: { unschedulable } } }) as const;
    await cluster.client.patch(builtInTypes.Node, { name: "node-1" }, patch(true));
    await cluster.pass(1);
    expect(await taintsOf(cluster, "node-1")).toEqual(["node.kubernetes.io/unschedulable:NoSchedule"]);
    await cluster.client.patch(builtInTypes.Node, { name: "node-1" }, patch(null));
    await cluster.pass(1);
    expect(await taintsOf(cluster, "node-1")).toEqual([]);
  });

  it("05:CP-L11 a machine that vanishes takes its Node with it, and then its pods", async () => {
    const cluster = await started({ nodes: 2 });
    await cluster.create(builtInTypes.Pod, podObject("web", { spec: { nodeName: "node-1" } }));
    await cluster.pass(10);
    cluster.instances.terminate("node-1");
    await cluster.pass(45);
    expect((await cluster.client.list(builtInTypes.Node)).items.map(({ metadata }) => metadata.name)).toEqual([
      "node-2",
    ]);
    expect(await cluster.findPod("web")).toBeDefined();
    await cluster.pass(41);
    expect(await cluster.findPod("web")).toBeUndefined();
  });

  it("05:CP-L11 a machine that vanishes after its kubelet fell silent takes its Node with it", async () => {
    const cluster = await started({ nodes: 2 });
    cluster.instances.setKubelet("node-1", "silent");
    await cluster.pass(120);
    cluster.instances.terminate("node-1");
    await cluster.pass(1);
    expect((await cluster.client.list(builtInTypes.Node)).items.map(({ metadata }) => metadata.name)).toEqual([
      "node-2",
    ]);
  });

  it("05:CP-L11 keeps only so many finished pods", async () => {
    const cluster = await started({ nodes: 1, controllers: { podGc: { terminatedPodThreshold: 3 } } });
    const annotations = { "sim.karpenter.sh/run-seconds": "1" };
    for (let at = 0; at < 6; at++) {
      await cluster.create(builtInTypes.Pod, podObject(`job-${at}`, { annotations, spec: { restartPolicy: "Never" } }));
      await cluster.pass(10);
    }
    expect((await cluster.pods()).map(({ metadata }) => metadata.name)).toEqual(["job-3", "job-4", "job-5"]);
  });
});
