import { afterEach, describe, expect, it } from "vitest";
import type { ApiPod } from "../../../../src/control-plane/controllers/api-pod-and-node.ts";
import type { DaemonSetObject } from "../../../../src/control-plane/controllers/workloads/types.ts";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { newImage, template, type WorkloadWorld, workloadWorld } from "./workload-world.ts";

let cluster: WorkloadWorld;
afterEach(() => cluster.stop());

function daemonSet(spec: object = {}, podSpec: object = {}) {
  const base = template("agent");
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "agent" },
    spec: {
      selector: { matchLabels: { app: "agent" } },
      template: { ...base, spec: { ...base.spec, ...podSpec } },
      ...spec,
    },
  };
}

async function daemons(): Promise<readonly ApiPod[]> {
  return cluster.list<ApiPod>(builtInTypes.Pod, "app=agent");
}

async function places(): Promise<readonly (string | undefined)[]> {
  return (await daemons()).map(({ spec }) => spec.nodeName).sort();
}

async function status() {
  return (await cluster.get<DaemonSetObject>(builtInTypes.DaemonSet, "agent"))?.status;
}

describe("daemon sets on the embedded control plane", () => {
  it("05:CP-L4 puts one pod on every node, new and cordoned ones included", async () => {
    cluster = await workloadWorld();
    await cluster.patch(builtInTypes.Node, "n2", {
      spec: { unschedulable: true, taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }] },
    });
    await cluster.create(daemonSet());
    await cluster.pass(5);
    expect(await places()).toEqual(["n1", "n2", "n3"]);
    await cluster.create({ apiVersion: "v1", kind: "Node", metadata: { name: "n4" } });
    await cluster.pass(5);
    expect(await places()).toEqual(["n1", "n2", "n3", "n4"]);
    expect(await status()).toEqual({
      currentNumberScheduled: 4,
      desiredNumberScheduled: 4,
      numberMisscheduled: 0,
      numberReady: 4,
      updatedNumberScheduled: 4,
      numberAvailable: 4,
      observedGeneration: 1,
    });
    const [pod] = await daemons();
    expect(pod?.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toEqual({
      nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [pod?.spec.nodeName] }] }],
    });
    expect(pod?.spec.tolerations?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      "node.kubernetes.io/not-ready:NoExecute",
      "node.kubernetes.io/unreachable:NoExecute",
      "node.kubernetes.io/disk-pressure:NoSchedule",
      "node.kubernetes.io/memory-pressure:NoSchedule",
      "node.kubernetes.io/pid-pressure:NoSchedule",
      "node.kubernetes.io/unschedulable:NoSchedule",
    ]);
    expect(pod?.metadata.labels?.["controller-revision-hash"]).toMatch(/^[a-z0-9]+$/);
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L4 follows labels and taints of nodes", async () => {
    cluster = await workloadWorld();
    await cluster.patch(builtInTypes.Node, "n1", { metadata: { labels: { disk: "ssd" } } });
    await cluster.patch(builtInTypes.Node, "n2", {
      metadata: { labels: { disk: "ssd" } },
      spec: { taints: [{ key: "team", value: "a", effect: "NoSchedule" }] },
    });
    await cluster.create(daemonSet({}, { nodeSelector: { disk: "ssd" } }));
    await cluster.pass(5);
    expect(await places()).toEqual(["n1"]);
    await cluster.patch(builtInTypes.Node, "n3", { metadata: { labels: { disk: "ssd" } } });
    await cluster.patch(builtInTypes.Node, "n1", {
      spec: { taints: [{ key: "team", value: "a", effect: "NoSchedule" }] },
    });
    await cluster.pass(5);
    // A pod that is there may stay where a new one would not be put.
    expect(await places()).toEqual(["n1", "n3"]);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 });
    await cluster.patch(builtInTypes.Node, "n1", {
      spec: { taints: [{ key: "team", value: "a", effect: "NoExecute" }] },
    });
    await cluster.patch(builtInTypes.Node, "n3", { metadata: { labels: { disk: null } } });
    await cluster.pass(10);
    expect(await places()).toEqual([]);
  });

  it("05:CP-L4 rolls out node by node", async () => {
    cluster = await workloadWorld();
    await cluster.create(daemonSet());
    await cluster.pass(5);
    await cluster.patch(builtInTypes.DaemonSet, "agent", newImage("app:2"));
    for (let step = 0; step < 150; step++) {
      await cluster.pass(0.1);
      expect((await status())?.numberUnavailable ?? 0).toBeLessThanOrEqual(1);
    }
    expect((await daemons()).map(({ spec }) => spec.containers?.[0]?.image)).toEqual(["app:2", "app:2", "app:2"]);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3 });
  });

  it("05:CP-L4 a surge has the new pod ready before the old one goes", async () => {
    cluster = await workloadWorld();
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    await cluster.create(daemonSet({ updateStrategy }));
    await cluster.pass(5);
    await cluster.patch(builtInTypes.DaemonSet, "agent", newImage("app:2"));
    for (let step = 0; step < 200; step++) {
      await cluster.pass(0.1);
      const ready = (await daemons()).filter(
        ({ metadata, status: pod }) => metadata.deletionTimestamp === undefined && pod?.phase === "Running",
      );
      expect(new Set(ready.map(({ spec }) => spec.nodeName)).size).toBe(3);
    }
    expect((await daemons()).map(({ spec }) => spec.containers?.[0]?.image)).toEqual(["app:2", "app:2", "app:2"]);
  });
});
