import { afterEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { conditionOfType } from "../../../src/control-plane/controllers/api-pod-and-node.ts";
import { textAt } from "../../../src/control-plane/object-fields.ts";
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

const zone = "topology.kubernetes.io/zone";

function storageClass(
  cluster: ClusterWorld,
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<KubeObject> {
  return cluster.create(builtInTypes.StorageClass, { metadata: { name }, provisioner: "disk.example", ...fields });
}

function claim(cluster: ClusterWorld, name: string, storageClassName: string): Promise<KubeObject> {
  const resources = { requests: { storage: "10Gi" } };
  return cluster.create(builtInTypes.PersistentVolumeClaim, {
    metadata: { name, namespace: "default" },
    spec: { accessModes: ["ReadWriteOnce"], resources, storageClassName },
  });
}

function withClaim(name: string, claimName: string, spec: Readonly<Record<string, unknown>> = {}) {
  return podObject(name, { spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName } }], ...spec } });
}

function volume(name: string, { storage, inZone }: { readonly storage: string; readonly inZone: string }) {
  const matchExpressions = [{ key: zone, operator: "In", values: [inZone] }];
  return {
    metadata: { name },
    spec: {
      capacity: { storage },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "local",
      hostPath: { path: "/data" },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  };
}

async function zoneOf(cluster: ClusterWorld, name: string): Promise<unknown> {
  const volumes = await cluster.client.get<KubeObject & { spec: Spec }>(builtInTypes.PersistentVolume, { name });
  return volumes.spec.nodeAffinity.required.nodeSelectorTerms[0]?.matchExpressions[0];
}

interface Spec {
  readonly nodeAffinity: {
    readonly required: { readonly nodeSelectorTerms: readonly { readonly matchExpressions: readonly unknown[] }[] };
  };
}

async function volumeNameOf(cluster: ClusterWorld, name: string): Promise<string> {
  const { spec } = await cluster.client.get(builtInTypes.PersistentVolumeClaim, { name, namespace: "default" });
  return textAt(spec, "volumeName");
}

describe("05:CP-L12 volumes", () => {
  it.each([
    ["kubernetes.io/aws-ebs", "ebs.csi.aws.com"],
    ["rancher.io/local-path", "rancher.io/local-path"],
  ])("05:CP-L12 a pod with a volume of %s runs, and the volume is detached after it", async (provisioner, driver) => {
    const cluster = await started();
    await storageClass(cluster, "own", { provisioner, volumeBindingMode: "WaitForFirstConsumer" });
    await claim(cluster, "data", "own");
    await cluster.create(builtInTypes.Pod, withClaim("reader", "data"));
    await cluster.pass(30);
    const key = { name: "reader", namespace: "default" };
    const { status } = await cluster.client.get(builtInTypes.Pod, key);
    expect(textAt(status, "phase")).toBe("Running");
    const volume = await cluster.client.get(builtInTypes.PersistentVolume, {
      name: await volumeNameOf(cluster, "data"),
    });
    expect(textAt(volume.spec, "csi", "driver")).toBe(driver);
    await cluster.client.delete(builtInTypes.Pod, key);
    await cluster.pass(60);
    expect((await cluster.client.list(builtInTypes.VolumeAttachment)).items).toEqual([]);
  });

  it("05:CP-L12 a claim without a class gets the default class, also one that comes later; an empty name stays", async () => {
    const cluster = await started();
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const claimNamed = (name: string, own: object = {}) =>
      cluster.create(builtInTypes.PersistentVolumeClaim, {
        metadata: { name, namespace: "default" },
        spec: { ...spec, ...own },
      });
    const classOf = async (name: string) =>
      (
        await cluster.client.get<KubeObject & { spec: { storageClassName?: string } }>(
          builtInTypes.PersistentVolumeClaim,
          { name, namespace: "default" },
        )
      ).spec.storageClassName;
    await claimNamed("early");
    await claimNamed("none", { storageClassName: "" });
    await cluster.pass(60);
    expect(await classOf("early")).toBeUndefined();
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    await cluster.create(builtInTypes.StorageClass, {
      metadata: { name: "b", annotations },
      provisioner: "disk.example",
    });
    await cluster.create(builtInTypes.StorageClass, {
      metadata: { name: "a", annotations },
      provisioner: "disk.example",
    });
    await claimNamed("late");
    await cluster.pass(10);
    expect(await Promise.all(["early", "late", "none"].map(classOf))).toEqual(["b", "a", ""]);
    expect(await volumeNameOf(cluster, "early")).toMatch(/^pvc-/);
    expect(await volumeNameOf(cluster, "none")).toBe("");
  });

  it("05:CP-L12 makes the volume of an immediate claim in an allowed zone, and pods follow it there", async () => {
    const cluster = await started({ nodes: 3 });
    const allowedTopologies = [{ matchLabelExpressions: [{ key: zone, values: ["simulated-b"] }] }];
    await storageClass(cluster, "fast", { allowedTopologies });
    await claim(cluster, "data", "fast");
    await cluster.create(builtInTypes.Pod, withClaim("db", "data"));
    await cluster.pass(1);
    expect(conditionOfType(await cluster.pod("db"), "PodScheduled")?.message).toContain(
      "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
    );
    await cluster.pass(30);
    const name = await volumeNameOf(cluster, "data");
    expect(await zoneOf(cluster, name)).toEqual({ key: zone, operator: "In", values: ["simulated-b"] });
    const pod = await cluster.pod("db");
    expect([pod.spec.nodeName, pod.status?.phase]).toEqual(["node-2", "Running"]);
  });

  it("05:CP-L12 waits for the first consumer and makes the volume in its zone", async () => {
    const cluster = await started({ nodes: 3 });
    await storageClass(cluster, "late", { volumeBindingMode: "WaitForFirstConsumer" });
    await claim(cluster, "data", "late");
    await cluster.pass(60);
    expect(await volumeNameOf(cluster, "data")).toBe("");
    await cluster.create(builtInTypes.Pod, withClaim("db", "data", { nodeSelector: { [zone]: "simulated-c" } }));
    await cluster.pass(30);
    const pod = await cluster.pod("db");
    expect([pod.spec.nodeName, pod.status?.phase]).toEqual(["node-3", "Running"]);
    const name = await volumeNameOf(cluster, "data");
    expect(await zoneOf(cluster, name)).toEqual({ key: zone, operator: "In", values: ["simulated-c"] });
  });

  it("05:CP-L12 lets the scheduler choose again when the node is gone before its volume is made", async () => {
    const cluster = await started({ nodes: 2, controllers: { volumes: { provisionMs: 30_000 } } });
    await storageClass(cluster, "late", { volumeBindingMode: "WaitForFirstConsumer" });
    await claim(cluster, "data", "late");
    await cluster.create(builtInTypes.Pod, withClaim("db", "data"));
    await cluster.pass(1);
    const chosen = await cluster.client.get(builtInTypes.PersistentVolumeClaim, { name: "data", namespace: "default" });
    const first = chosen.metadata.annotations?.["volume.kubernetes.io/selected-node"] ?? "";
    expect(["node-1", "node-2"]).toContain(first);
    cluster.instances.terminate(first);
    await cluster.client.delete(builtInTypes.Node, { name: first });
    await cluster.pass(90);
    const pod = await cluster.pod("db");
    expect(pod.spec.nodeName).toBe(first === "node-1" ? "node-2" : "node-1");
    expect(pod.status?.phase).toBe("Running");
  });

  it("05:CP-L12 takes the smallest volume that is there and does, where the pod can reach it", async () => {
    const cluster = await started({ nodes: 3 });
    const manual = { provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "WaitForFirstConsumer" };
    await storageClass(cluster, "local", manual);
    await cluster.create(builtInTypes.PersistentVolume, volume("small", { storage: "1Gi", inZone: "simulated-a" }));
    await cluster.create(builtInTypes.PersistentVolume, volume("right", { storage: "12Gi", inZone: "simulated-b" }));
    await cluster.create(builtInTypes.PersistentVolume, volume("large", { storage: "50Gi", inZone: "simulated-b" }));
    await claim(cluster, "data", "local");
    await cluster.create(builtInTypes.Pod, withClaim("db", "data"));
    await cluster.pass(30);
    expect(await volumeNameOf(cluster, "data")).toBe("right");
    const pod = await cluster.pod("db");
    expect([pod.spec.nodeName, pod.status?.phase]).toEqual(["node-2", "Running"]);
    const phases = (await cluster.client.list(builtInTypes.PersistentVolume)).items.map(({ metadata, status }) => [
      metadata.name,
      textAt(status, "phase"),
    ]);
    expect(phases).toEqual([
      ["large", "Available"],
      ["right", "Bound"],
      ["small", "Available"],
    ]);
  });

  it("05:CP-L12 attaches before the pod runs, and detaches a while after it is gone", async () => {
    const cluster = await started({ nodes: 1, controllers: { volumes: { attachMs: 10_000, detachMs: 20_000 } } });
    await storageClass(cluster, "late", { volumeBindingMode: "WaitForFirstConsumer" });
    await claim(cluster, "data", "late");
    await cluster.create(builtInTypes.Pod, withClaim("db", "data"));
    await cluster.pass(8);
    const pending = await cluster.pod("db");
    expect([pending.spec.nodeName, pending.status?.phase]).toEqual(["node-1", "Pending"]);
    await cluster.pass(10);
    expect((await cluster.pod("db")).status?.phase).toBe("Running");
    const attachments = async () => (await cluster.client.list(builtInTypes.VolumeAttachment)).items;
    expect((await attachments()).map(({ status }) => status)).toEqual([{ attached: true }]);
    await cluster.client.delete(builtInTypes.Pod, { name: "db", namespace: "default" });
    await cluster.pass(10);
    expect(await cluster.findPod("db")).toBeUndefined();
    expect(await attachments()).toHaveLength(1);
    await cluster.pass(15);
    expect(await attachments()).toHaveLength(0);
  });

  it("05:CP-L12 a pod that has finished holds no volume, though it is still there", async () => {
    const cluster = await started({ nodes: 1, controllers: { volumes: { attachMs: 0, detachMs: 5_000 } } });
    await storageClass(cluster, "late", { volumeBindingMode: "WaitForFirstConsumer" });
    await claim(cluster, "data", "late");
    await cluster.create(builtInTypes.Pod, withClaim("job", "data", { restartPolicy: "Never" }));
    await cluster.pass(30);
    const attachments = async () => (await cluster.client.list(builtInTypes.VolumeAttachment)).items;
    expect(await attachments()).toHaveLength(1);
    const patch = { kind: "merge", body: { status: { phase: "Succeeded" } } } as const;
    await cluster.client.patch(builtInTypes.Pod, { name: "job", namespace: "default" }, patch, {
      subresource: "status",
    });
    await cluster.pass(10);
    expect((await cluster.pod("job")).status?.phase).toBe("Succeeded");
    expect(await attachments()).toHaveLength(0);
  });

  it("05:CP-L12 detaching leaves finalizers of others alone", async () => {
    const cluster = await started({ nodes: 1 });
    await storageClass(cluster, "fast", {});
    await claim(cluster, "data", "fast");
    await cluster.create(builtInTypes.Pod, withClaim("db", "data"));
    await cluster.pass(60);
    const [attachment] = (await cluster.client.list(builtInTypes.VolumeAttachment)).items;
    const { name = "", finalizers = [] } = attachment?.metadata ?? {};
    const body = { metadata: { finalizers: [...finalizers, "example.com/backup"] } };
    await cluster.client.patch(builtInTypes.VolumeAttachment, { name }, { kind: "merge", body });
    await cluster.client.delete(builtInTypes.Pod, { name: "db", namespace: "default" });
    await cluster.pass(120);
    const { metadata } = await cluster.client.get(builtInTypes.VolumeAttachment, { name });
    expect(metadata.finalizers).toEqual(["example.com/backup"]);
  });

  it("05:CP-L12 a volume of one node waits to be let go by another", async () => {
    const cluster = await started({ nodes: 4, controllers: { volumes: { detachMs: 60_000 } } });
    await storageClass(cluster, "late", { volumeBindingMode: "WaitForFirstConsumer" });
    await claim(cluster, "data", "late");
    const host = "kubernetes.io/hostname";
    await cluster.create(builtInTypes.Pod, withClaim("first", "data", { nodeSelector: { [host]: "node-1" } }));
    await cluster.pass(20);
    await cluster.client.delete(builtInTypes.Pod, { name: "first", namespace: "default" });
    await cluster.create(builtInTypes.Pod, withClaim("second", "data", { nodeSelector: { [host]: "node-4" } }));
    await cluster.pass(40);
    expect((await cluster.pod("second")).status?.phase).toBe("Pending");
    await cluster.pass(60);
    expect((await cluster.pod("second")).status?.phase).toBe("Running");
  });

  it("05:CP-L9 respects how many volumes a node can attach", async () => {
    const cluster = await started({
      nodes: 2,
      instance: (one) => ({ ...one, volumeLimits: { "disk.example": 1 } }),
    });
    await storageClass(cluster, "late", { volumeBindingMode: "WaitForFirstConsumer" });
    for (let at = 0; at < 3; at++) {
      await claim(cluster, `data-${at}`, "late");
      await cluster.create(builtInTypes.Pod, withClaim(`db-${at}`, `data-${at}`));
    }
    await cluster.pass(60);
    const placed = (await cluster.pods()).map(({ spec }) => spec.nodeName);
    expect(placed.slice(0, 2).sort()).toEqual(["node-1", "node-2"]);
    expect(conditionOfType(await cluster.pod("db-2"), "PodScheduled")?.message).toContain(
      "2 node(s) exceed max volume count",
    );
  });

  it("05:CP-L12 removes the volume of a claim that is gone, or keeps it, as the class says", async () => {
    const cluster = await started({ nodes: 1 });
    await storageClass(cluster, "gone", {});
    await storageClass(cluster, "kept", { reclaimPolicy: "Retain" });
    for (const name of ["gone", "kept"]) await claim(cluster, name, name);
    await cluster.pass(10);
    const kept = await volumeNameOf(cluster, "kept");
    for (const name of ["gone", "kept"]) {
      await cluster.client.delete(builtInTypes.PersistentVolumeClaim, { name, namespace: "default" });
    }
    await cluster.pass(10);
    const left = (await cluster.client.list(builtInTypes.PersistentVolume)).items;
    expect(left.map(({ metadata, status }) => [metadata.name, textAt(status, "phase")])).toEqual([[kept, "Released"]]);
  });

  it("05:CP-L12 makes the claims of volumes that belong to a pod", async () => {
    const cluster = await started({ nodes: 1 });
    await storageClass(cluster, "late", { volumeBindingMode: "WaitForFirstConsumer" });
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "late",
      resources: { requests: { storage: "1Gi" } },
    };
    const volumes = [{ name: "scratch", ephemeral: { volumeClaimTemplate: { spec } } }];
    await cluster.create(builtInTypes.Pod, podObject("job", { spec: { volumes } }));
    await cluster.pass(30);
    const made = await cluster.client.get(builtInTypes.PersistentVolumeClaim, {
      name: "job-scratch",
      namespace: "default",
    });
    const { uid } = (await cluster.pod("job")).metadata;
    expect(made.metadata.ownerReferences?.map((owner) => owner.uid)).toEqual([uid]);
    expect((await cluster.pod("job")).status?.phase).toBe("Running");
  });
});
