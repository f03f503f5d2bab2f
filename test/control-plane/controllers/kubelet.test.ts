import { afterEach, describe, expect, it } from "vitest";
import { simulationAnnotations as sim } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultInstance } from "../../../src/cloud/instance-source.ts";
import { conditionOfType } from "../../../src/control-plane/controllers/api-pod-and-node.ts";
import { listAt, numberAt, textAt } from "../../../src/control-plane/object-fields.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { rfc3339Micro } from "../../../src/util/timestamp.ts";
import { ClusterWorld, type ClusterWorldOptions, podObject, startAt } from "./cluster-world.ts";

const running: ClusterWorld[] = [];
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

async function started(options: ClusterWorldOptions = {}): Promise<ClusterWorld> {
  const cluster = await new ClusterWorld(options).start();
  running.push(cluster);
  return cluster;
}

function renewTime(cluster: ClusterWorld, name: string): Promise<string> {
  return cluster.client
    .get(builtInTypes.Lease, { name, namespace: "kube-node-lease" })
    .then(({ spec }) => textAt(spec, "renewTime"));
}

describe("05:CP-L10 the kubelets", () => {
  it("05:CP-L10 registers a machine as a Node after its boot delay, ready a while later", async () => {
    const cluster = await started({ nodes: 0 });
    const machine = defaultInstance(1, { launchedAt: startAt, bootMs: 30_000 });
    cluster.instances.launch({ ...machine, readyMs: 10_000, volumeLimits: { "disk.example": 7 } });
    await cluster.pass(29);
    expect((await cluster.client.list(builtInTypes.Node)).items).toEqual([]);
    await cluster.pass(2);
    const young = await cluster.node("node-1");
    expect(conditionOfType(young, "Ready")?.status).toBe("False");
    expect(young.spec?.taints).toContainEqual({ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" });
    await cluster.pass(10);
    const node = await cluster.node("node-1");
    expect(conditionOfType(node, "Ready")).toMatchObject({ status: "True", reason: "KubeletReady" });
    expect(node.spec).toEqual({ providerID: "simulated:///node-1" });
    expect(node.status?.allocatable).toEqual(machine.allocatable);
    const csiNode = await cluster.client.get(builtInTypes.CSINode, { name: "node-1" });
    expect(numberAt(listAt(csiNode.spec, "drivers")[0], "allocatable", "count")).toBe(7);
  });

  it("05:CP-L10 tells of its storage drivers, also when it has none", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.pass(1);
    const csiNode = await cluster.client.get(builtInTypes.CSINode, { name: "node-1" });
    expect(listAt(csiNode.spec, "drivers")).toEqual([]);
    expect(csiNode.metadata.ownerReferences).toMatchObject([{ kind: "Node", name: "node-1" }]);
  });

  it("05:CP-L10 runs a pod: creating, then running and ready", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.create(builtInTypes.Pod, podObject("web", { annotations: { [sim.startSeconds]: "5" } }));
    await cluster.pass(3);
    const creating = await cluster.pod("web");
    expect(creating.status?.phase).toBe("Pending");
    expect(textAt(listAt(creating.status, "containerStatuses")[0], "state", "waiting", "reason")).toBe(
      "ContainerCreating",
    );
    await cluster.pass(3);
    const pod = await cluster.pod("web");
    expect(pod.status?.phase).toBe("Running");
    const types = ["PodScheduled", "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"];
    expect(types.map((type) => conditionOfType(pod, type)?.status)).toEqual(["True", "True", "True", "True", "True"]);
    expect(textAt(pod.status, "podIP")).toMatch(/^10\.\d+\.\d+\.\d+$/);
    expect(listAt(pod.status, "containerStatuses")[0]).toMatchObject({ ready: true, restartCount: 0 });
  });

  it("05:CP-L10 gives every pod an address of its own", async () => {
    const cluster = await started({ nodes: 3 });
    for (let at = 0; at < 100; at++) await cluster.create(builtInTypes.Pod, podObject(`p-${at}`));
    await cluster.pass(10);
    expect(new Set((await cluster.pods()).map(({ status }) => textAt(status, "podIP"))).size).toBe(100);
  });

  it("05:CP-L10 is ready after the annotated delay", async () => {
    const cluster = await started({ nodes: 1 });
    const annotations = { [sim.startSeconds]: "1", [sim.readySeconds]: "20" };
    await cluster.create(builtInTypes.Pod, podObject("slow", { annotations }));
    await cluster.pass(15);
    const waiting = await cluster.pod("slow");
    expect([waiting.status?.phase, conditionOfType(waiting, "Ready")?.status]).toEqual(["Running", "False"]);
    await cluster.pass(10);
    expect(conditionOfType(await cluster.pod("slow"), "Ready")?.status).toBe("True");
  });

  it("05:CP-L10 finishes a pod after its run time, by its exit code and restart policy", async () => {
    const cluster = await started({ nodes: 1 });
    const exits = (code: string, restartPolicy: string) => ({
      annotations: { [sim.runSeconds]: "5", [sim.exitCode]: code },
      spec: { restartPolicy },
    });
    await cluster.create(builtInTypes.Pod, podObject("done", exits("0", "Never")));
    await cluster.create(builtInTypes.Pod, podObject("failed", exits("3", "Never")));
    await cluster.create(builtInTypes.Pod, podObject("retried", exits("3", "OnFailure")));
    await cluster.create(builtInTypes.Pod, podObject("forever", exits("0", "Always")));
    await cluster.pass(12);
    const phaseOf = async (name: string) => (await cluster.pod(name)).status?.phase;
    expect(await phaseOf("done")).toBe("Succeeded");
    expect(await phaseOf("failed")).toBe("Failed");
    expect(await phaseOf("retried")).toBe("Running");
    const retried = listAt((await cluster.pod("retried")).status, "containerStatuses")[0];
    expect(textAt(retried, "state", "waiting", "reason")).toBe("CrashLoopBackOff");
    expect(numberAt(retried, "lastState", "terminated", "exitCode")).toBe(3);
    await cluster.pass(300);
    expect(await phaseOf("forever")).toBe("Running");
    const restarts = numberAt(listAt((await cluster.pod("forever")).status, "containerStatuses")[0], "restartCount");
    expect(restarts).toBe(4); // after 10, 20, 40 and 80 seconds
  });

  it("05:CP-L10 fails a pod that is active for too long", async () => {
    const cluster = await started({ nodes: 1 });
    await cluster.create(
      builtInTypes.Pod,
      podObject("late", { spec: { activeDeadlineSeconds: 20, restartPolicy: "Never" } }),
    );
    await cluster.pass(25);
    const pod = await cluster.pod("late");
    expect([pod.status?.phase, textAt(pod.status, "reason")]).toEqual(["Failed", "DeadlineExceeded"]);
  });

  it("05:CP-L10 lets a pod stop in its time: pre-stop, then the container, within the grace period", async () => {
    const cluster = await started({ nodes: 1 });
    const sleeping = (seconds: number, grace: number) => ({
      annotations: { [sim.stopSeconds]: "5" },
      spec: {
        terminationGracePeriodSeconds: grace,
        containers: [{ name: "app", image: "app:1", lifecycle: { preStop: { sleep: { seconds } } } }],
      },
    });
    await cluster.create(builtInTypes.Pod, podObject("quick", sleeping(10, 60)));
    await cluster.create(builtInTypes.Pod, podObject("cut", sleeping(10, 12)));
    await cluster.pass(10);
    for (const name of ["quick", "cut"]) await cluster.client.delete(builtInTypes.Pod, { name, namespace: "default" });
    await cluster.pass(11);
    expect((await cluster.pods()).map(({ metadata }) => metadata.name)).toEqual(["cut", "quick"]);
    await cluster.pass(2);
    expect((await cluster.pods()).map(({ metadata }) => metadata.name)).toEqual(["quick"]);
    await cluster.pass(3);
    expect(await cluster.pods()).toEqual([]);
  });

  it("05:CP-L10 says a pod failed before it goes where a finalizer holds it", async () => {
    const cluster = await started({ nodes: 1 });
    const { metadata, spec } = podObject("held");
    await cluster.create(builtInTypes.Pod, { metadata: { ...metadata, finalizers: ["example.com/hold"] }, spec });
    await cluster.pass(10);
    await cluster.client.delete(builtInTypes.Pod, { name: "held", namespace: "default" });
    await cluster.pass(40);
    expect((await cluster.pod("held")).status?.phase).toBe("Failed");
    const patch = { kind: "merge", body: { metadata: { finalizers: null } } } as const;
    await cluster.client.patch(builtInTypes.Pod, { name: "held", namespace: "default" }, patch);
    await cluster.pass(1);
    expect(await cluster.findPod("held")).toBeUndefined();
  });

  it("05:CP-L10 computes leases when read, and writes them only while somebody watches", async () => {
    const cluster = await started({ nodes: 2 });
    await cluster.pass(15);
    const revision = cluster.api.revision;
    await cluster.pass(600);
    expect(cluster.api.revision).toBe(revision);
    expect(await renewTime(cluster, "node-1")).toBe(rfc3339Micro(startAt + 610_000));

    const watching = new AbortController();
    const seen: KubeObject[] = [];
    const { items, resourceVersion } = await cluster.client.list(builtInTypes.Lease);
    expect(items).toHaveLength(2);
    const watch = cluster.client.watch(builtInTypes.Lease, { resourceVersion, signal: watching.signal });
    const reading = (async () => {
      for await (const event of watch) if (event.type === "MODIFIED") seen.push(event.object);
    })();
    await cluster.pass(30);
    expect(seen.length).toBe(6);
    watching.abort();
    await reading;
  });

  it("05:CP-L10 writes leases on any cluster when asked to", async () => {
    const cluster = await started({ nodes: 1, controllers: { kubelets: { leases: { kind: "written" } } } });
    await cluster.pass(35);
    expect(await renewTime(cluster, "node-1")).toBe(rfc3339Micro(startAt + 30_000));
  });

  it("05:CP-L10 adopts nodes made for KWOK", async () => {
    const cluster = await started({ nodes: 0 });
    const resources = { cpu: "4", memory: "16Gi", pods: "110" };
    await cluster.create(builtInTypes.Node, {
      metadata: { name: "fake", annotations: { "kwok.x-k8s.io/node": "fake" } },
      status: { capacity: resources, allocatable: resources },
    });
    await cluster.create(builtInTypes.Pod, podObject("web"));
    await cluster.pass(10);
    expect(conditionOfType(await cluster.node("fake"), "Ready")?.status).toBe("True");
    expect((await cluster.pod("web")).status?.phase).toBe("Running");
  });

  it("05:CP-L10 does not register again a Node that was taken out of the cluster", async () => {
    const cluster = await started({ nodes: 2 });
    await cluster.pass(5);
    await cluster.client.delete(builtInTypes.Node, { name: "node-1" });
    await cluster.pass(120);
    expect((await cluster.client.list(builtInTypes.Node)).items.map(({ metadata }) => metadata.name)).toEqual([
      "node-2",
    ]);
  });

  it("05:CP-L10 takes ten times as long on a slow node", async () => {
    const cluster = await started({ nodes: 1 });
    cluster.instances.setKubelet("node-1", "slow");
    await cluster.create(builtInTypes.Pod, podObject("web", { annotations: { [sim.startSeconds]: "2" } }));
    await cluster.pass(15);
    expect((await cluster.pod("web")).status?.phase).toBe("Pending");
    await cluster.pass(10);
    expect((await cluster.pod("web")).status?.phase).toBe("Running");
  });
});
