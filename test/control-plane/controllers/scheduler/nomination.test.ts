import { afterEach, describe, expect, it } from "vitest";
import { builtInTypes } from "../../../../src/kube/resources.ts";
import { ClusterWorld, podObject } from "../cluster-world.ts";

const running: ClusterWorld[] = [];
afterEach(async () => {
  for (const cluster of running.splice(0)) await cluster.stop();
});

const taint = { key: "example.com/booting", effect: "NoSchedule" };
const waitingClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "disks" },
  provisioner: "disks.example.com",
  volumeBindingMode: "WaitForFirstConsumer",
};
const diskClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "disk", namespace: "default" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName: "disks", resources: { requests: { storage: "1Gi" } } },
};
const diskVolume = { name: "data", persistentVolumeClaim: { claimName: "disk" } };
const key = (name: string) => ({ name, namespace: "default" });

/** Nodes that take no pods until they are opened: meanwhile pods wait, and are nominated from outside. */
async function closedCluster(nodes: number): Promise<ClusterWorld> {
  const cluster = await new ClusterWorld({ nodes, instance: (one) => ({ ...one, taints: [taint] }) }).start();
  running.push(cluster);
  await cluster.pass(5);
  return cluster;
}

async function nominate(cluster: ClusterWorld, name: string, node: string | null): Promise<void> {
  const patch = { kind: "merge", body: { status: { nominatedNodeName: node } } } as const;
  await cluster.client.patch(builtInTypes.Pod, key(name), patch, { subresource: "status", fieldManager: "other" });
}

async function open(cluster: ClusterWorld, ...nodes: readonly string[]): Promise<void> {
  const patch = { kind: "merge", body: { spec: { taints: null } } } as const;
  for (const name of nodes) await cluster.client.patch(builtInTypes.Node, { name }, patch);
}

describe("05:CP-L14 nominations from outside", () => {
  it("05:CP-L14 tries the nominated node first, whatever the scores", async () => {
    const cluster = await closedCluster(3);
    await cluster.create(builtInTypes.Pod, podObject("resident", { cpu: "2", spec: { nodeName: "node-3" } }));
    await cluster.create(builtInTypes.Pod, podObject("web"));
    await cluster.pass(0.2); // all nodes open within its back-off
    await nominate(cluster, "web", "node-3");
    await open(cluster, "node-1", "node-2", "node-3");
    await cluster.pass(30);
    expect((await cluster.pod("web")).spec.nodeName).toBe("node-3");
  });

  it("05:CP-L14 keeps the room of nominated pods from others that are no more important", async () => {
    const cluster = await closedCluster(1);
    await cluster.create(builtInTypes.Pod, podObject("first", { cpu: "3" }));
    await cluster.create(builtInTypes.Pod, podObject("expected", { cpu: "3" }));
    await cluster.pass(1);
    await nominate(cluster, "expected", "node-1");
    await open(cluster, "node-1");
    await cluster.pass(30);
    expect((await cluster.pod("expected")).spec.nodeName).toBe("node-1");
    expect((await cluster.pod("first")).spec.nodeName).toBeUndefined();
  });

  it("05:CP-L14 a pod whose volume is still to be made is scheduled beside nominated pods", async () => {
    const cluster = await closedCluster(1);
    await cluster.create(builtInTypes.StorageClass, waitingClass);
    await cluster.create(builtInTypes.PersistentVolumeClaim, diskClaim);
    await cluster.create(builtInTypes.Pod, podObject("expected", { cpu: "1" }));
    await cluster.create(builtInTypes.Pod, podObject("store", { cpu: "1", spec: { volumes: [diskVolume] } }));
    await cluster.pass(1);
    await nominate(cluster, "expected", "node-1");
    await open(cluster, "node-1");
    await cluster.pass(30);
    for (const name of ["expected", "store"]) expect((await cluster.pod(name)).spec.nodeName).toBe("node-1");
    expect(cluster.failures).toEqual([]);
  });

  it("05:CP-L14 a pod is nominated to its node while its volume is made", async () => {
    const cluster = await closedCluster(1);
    await cluster.create(builtInTypes.StorageClass, waitingClass);
    await cluster.create(builtInTypes.PersistentVolumeClaim, diskClaim);
    await open(cluster, "node-1");
    await cluster.create(builtInTypes.Pod, podObject("web"));
    await cluster.create(builtInTypes.Pod, podObject("store", { spec: { volumes: [diskVolume] } }));
    await cluster.pass(0.5);
    const whereabouts = async (name: string) => {
      const { spec, status } = await cluster.pod(name);
      return { node: spec.nodeName, nominated: status?.nominatedNodeName };
    };
    expect(await whereabouts("store")).toEqual({ nominated: "node-1" });
    expect(await whereabouts("web")).toEqual({ node: "node-1" });
    await cluster.pass(30);
    expect(await whereabouts("store")).toEqual({ node: "node-1" });
  });

  it("05:CP-L14 a pod whose volume cannot be made loses its nomination", async () => {
    const cluster = await closedCluster(1);
    await cluster.create(builtInTypes.StorageClass, waitingClass);
    await cluster.create(builtInTypes.PersistentVolumeClaim, diskClaim);
    await open(cluster, "node-1");
    await cluster.create(builtInTypes.Pod, podObject("store", { spec: { volumes: [diskVolume] } }));
    await cluster.pass(0.5);
    // As a provisioner that cannot serve the node.
    const patch = { kind: "merge", body: { metadata: { annotations: null } } } as const;
    await cluster.client.patch(builtInTypes.PersistentVolumeClaim, key("disk"), patch);
    await cluster.pass(0.2);
    expect((await cluster.pod("store")).status?.nominatedNodeName).toBeUndefined();
  });

  it("05:CP-L14 gives the room to others once the nomination is taken back", async () => {
    const cluster = await closedCluster(1);
    await cluster.create(builtInTypes.Pod, podObject("waiting", { cpu: "3" }));
    // A selector keeps it off the node it is nominated to.
    const elsewhere = { nodeSelector: { "example.com/rack": "none" } };
    await cluster.create(builtInTypes.Pod, podObject("expected", { cpu: "3", spec: elsewhere }));
    await cluster.pass(1);
    await nominate(cluster, "expected", "node-1");
    await cluster.pass(1);
    await nominate(cluster, "expected", null);
    await open(cluster, "node-1");
    await cluster.pass(30);
    expect((await cluster.pod("waiting")).spec.nodeName).toBe("node-1");
  });

  it("05:CP-L14 looks at all nodes when the nominated one does not fit, and clears it when none does", async () => {
    const cluster = await closedCluster(2);
    await cluster.create(builtInTypes.Pod, podObject("small"));
    await cluster.create(builtInTypes.Pod, podObject("large", { cpu: "100" }));
    await cluster.pass(1);
    for (const name of ["small", "large"]) await nominate(cluster, name, "node-1");
    await open(cluster, "node-2");
    await cluster.pass(30);
    expect((await cluster.pod("small")).spec.nodeName).toBe("node-2");
    expect((await cluster.pod("large")).status?.nominatedNodeName).toBeUndefined();
  });

  it("05:CP-L14 binding clears the nomination", async () => {
    const cluster = await closedCluster(1);
    await cluster.create(builtInTypes.Pod, podObject("web"));
    await cluster.pass(1);
    await nominate(cluster, "web", "node-1");
    await open(cluster, "node-1");
    await cluster.pass(30);
    const { spec, status } = await cluster.pod("web");
    expect({ node: spec.nodeName, nominated: status?.nominatedNodeName }).toEqual({ node: "node-1" });
  });
});
