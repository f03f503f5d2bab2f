import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { type NodeWorld, nodeWorld, ownedBy, type PodChanges, tolerating } from "./node-world.ts";

const attachment = (name: string, source: object, nodeName = "node-a") => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttachment",
  metadata: { name },
  spec: { attacher: "example.com/csi", nodeName, source },
});
const ofVolume = (volume: string, nodeName?: string) =>
  attachment(`csi-${volume}`, { persistentVolumeName: volume }, nodeName);
const claim = (name: string, volumeName: string) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace: "default" },
  spec: { volumeName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});
const using = (claimName: string): PodSpec => ({
  volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
});

async function drained(...objects: readonly object[]): Promise<NodeWorld> {
  const world = await nodeWorld();
  await world.registeredNode();
  await world.create(...objects);
  return world;
}

async function end(world: NodeWorld): Promise<void> {
  await world.deleteNode();
  await world.passEndingPods(8);
}

const detach = (world: NodeWorld, volume: string) =>
  world.client.delete(builtInTypes.VolumeAttachment, { name: `csi-${volume}` });

describe("volumes of a Node that ends", () => {
  it("03:T-21 03:T-22 are waited for until they are detached", async () => {
    const world = await drained(claim("data", "pv-1"), ofVolume("pv-1"));
    await world.run(["web"], { spec: using("data") });
    await end(world);
    await world.pass(600);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "True" });
    const waiting = { status: "Unknown", reason: "AwaitingVolumeDetachment" };
    expect(await world.condition("a", "VolumesDetached")).toMatchObject(waiting);
    expect(await world.condition("a", "InstanceTerminating")).toBeUndefined();
    expect(world.cloud.records()).toHaveLength(1);
    expect(await world.events("node-a")).toContainEqual({
      type: "Normal",
      reason: "AwaitingVolumeDetachment",
      message: "Awaiting deletion of bound volumeattachments (csi-pv-1)",
    });
    await detach(world, "pv-1");
    await world.pass(2);
    expect(await world.condition("a", "VolumesDetached")).toMatchObject({ status: "True" });
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
    expect(world.countOf("nodes_drained_total")).toBe(1); // though its conditions were written again and again
  });

  it("03:T-20 03:T-21 those of a finished pod are waited for until they are detached", async () => {
    const world = await drained(claim("data", "pv-1"), ofVolume("pv-1"));
    await world.run(["job"], { spec: using("data"), status: { phase: "Succeeded" } });
    await end(world);
    expect(await world.condition("a", "VolumesDetached")).toMatchObject({ reason: "AwaitingVolumeDetachment" });
    await detach(world, "pv-1");
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
  });

  it("03:T-22 at most five of them are named", async () => {
    const world = await drained(...[1, 2, 3, 4, 5, 6, 7].map((n) => ofVolume(`pv-${n}`)));
    await end(world);
    const told = (await world.events("node-a")).find(({ reason }) => reason === "AwaitingVolumeDetachment");
    expect(told?.message).toBe(
      "Awaiting deletion of bound volumeattachments (csi-pv-1, csi-pv-2, csi-pv-3, csi-pv-4, csi-pv-5 and 2 other(s))",
    );
  });

  it("03:T-20 of other nodes, and those that are no PersistentVolumes, hold nothing", async () => {
    const inline = attachment("inline", {
      inlineVolumeSpec: { accessModes: ["ReadWriteOnce"], csi: { driver: "example.com/csi", volumeHandle: "v" } },
    });
    const world = await drained(ofVolume("pv-1", "node-b"), inline);
    await end(world);
    expect(await world.condition("a", "VolumesDetached")).toMatchObject({ status: "True" });
  });

  const undrainable: readonly [title: string, changes: PodChanges][] = [
    ["static pods", { metadata: { ownerReferences: ownedBy.node } }],
    ["pods that tolerate the end", { spec: tolerating("Exists") }],
  ];
  it.each(undrainable)("03:T-20 those of %s stay attached and hold nothing", async (_, changes) => {
    const world = await drained(claim("kept", "pv-kept"), ofVolume("pv-kept"), claim("data", "pv-1"), ofVolume("pv-1"));
    await world.run(["stays"], { ...changes, spec: { ...changes.spec, ...using("kept") } });
    await world.run(["web"], { spec: using("data") });
    await end(world);
    const told = (await world.events("node-a")).find(({ reason }) => reason === "AwaitingVolumeDetachment");
    expect(told?.message).toBe("Awaiting deletion of bound volumeattachments (csi-pv-1)");
    await detach(world, "pv-1");
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
    expect(await world.list<KubeObject>(builtInTypes.VolumeAttachment)).toHaveLength(1);
  });

  it("03:T-20 03:T-3 those of a pod that is stuck hold nothing", async () => {
    const world = await drained(claim("data", "pv-1"), ofVolume("pv-1"));
    await world.run(["web"], { spec: { ...using("data"), terminationGracePeriodSeconds: 1 } });
    await world.deleteNode();
    await world.pass(90);
    expect(await world.node("node-a")).toBeUndefined();
  });

  it("03:T-20 a claim that comes with its pod is found by both names; one that is missing is no trouble", async () => {
    const world = await drained(claim("stays-scratch", "pv-1"), ofVolume("pv-1"));
    const volumes = [
      { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: {} } } },
      { name: "lost", persistentVolumeClaim: { claimName: "nowhere" } },
    ];
    await world.run(["stays"], { spec: { ...tolerating("Exists"), volumes } });
    await end(world);
    expect(await world.condition("a", "VolumesDetached")).toMatchObject({ status: "True" });
    expect(world.failures).toEqual([]);
  });

  it("03:T-23 are waited for no longer than the deadline, and nobody else's attachment is deleted", async () => {
    const world = await drained(ofVolume("pv-1"));
    await world.deleteNode();
    await world.setDeadline(60);
    await world.pass(59);
    expect(await world.condition("a", "VolumesDetached")).toMatchObject({ status: "Unknown" });
    await world.pass(1); // in the second of the deadline, not after it
    const elapsed = { status: "False", reason: "TerminationGracePeriodElapsed" };
    expect(await world.condition("a", "VolumesDetached")).toMatchObject(elapsed);
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
    expect(await world.list(builtInTypes.VolumeAttachment)).toHaveLength(1);
  });
});
