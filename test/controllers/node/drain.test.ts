import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../src/api/kubernetes/pod.ts";
import { taints } from "../../../src/api/labels.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { nodeWorld, ownedBy, type PodChanges, protectedBy, tolerating } from "./node-world.ts";

/** A node that ends, and on it these pods. */
async function draining(pods: Readonly<Record<string, PodChanges>>, ...others: readonly object[]) {
  const world = await nodeWorld();
  await world.registeredNode();
  await world.create(...others);
  for (const [name, changes] of Object.entries(pods)) await world.run([name], changes);
  await world.deleteNode();
  await world.pass(1);
  return world;
}

const critical: PodSpec = { priorityClassName: "system-cluster-critical", priority: 2_000_000_000 };
const nodeCritical: PodSpec = { priorityClassName: "system-node-critical", priority: 2_000_001_000 };
const unschedulable: PodSpec = {
  tolerations: [{ key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" }],
};

describe("which pods a drain takes", () => {
  it("03:T-2 pods without an owner, and those that tolerate cordoned nodes, go too", async () => {
    const world = await draining({
      bare: {},
      owned: { metadata: { ownerReferences: ownedBy.replicaSet } },
      cordoned: { spec: unschedulable },
    });
    expect(await world.terminatingPods()).toEqual(["bare", "cordoned", "owned"]);
    await world.passEndingPods(20);
    expect(await world.node("node-a")).toBeUndefined();
  });

  const kept: readonly [title: string, changes: PodChanges][] = [
    [
      "tolerate the disruption taint, with its value",
      { spec: { tolerations: [{ ...taints.disrupted, operator: "Equal", value: "" }] } },
    ],
    ["tolerate the disruption taint, with any", { spec: tolerating("Exists") }],
    ["tolerate everything", { spec: { tolerations: [{ operator: "Exists" }] } }],
    ["are static", { metadata: { ownerReferences: ownedBy.node } }],
    ["have failed", { status: { phase: "Failed" } }],
    ["are done", { status: { phase: "Succeeded" } }],
  ];
  it.each(kept)("03:T-2 pods that %s hold nothing and are left", async (_, changes) => {
    const world = await draining({ stays: changes });
    await world.pass(20);
    expect(await world.node("node-a")).toBeUndefined();
    expect((await world.podNamed("stays"))?.metadata.deletionTimestamp).toBeUndefined();
    expect(world.countOf("pods_eviction_requests_total")).toBe(0);
  });

  it("03:T-2 a pod of a name that was taken again is another pod", async () => {
    const world = await draining({ web: { metadata: protectedBy("true") } });
    await world.removePods("web");
    await world.run(["web"], { node: "elsewhere" });
    await world.pass(30);
    expect((await world.podNamed("web"))?.metadata.deletionTimestamp).toBeUndefined();
    expect(await world.node("node-a")).toBeUndefined();
    expect(world.countOf("pods_eviction_requests_total")).toBe(0);
  });
});

describe("how a drain waits", () => {
  it("03:T-12 until pods are gone, not only going", async () => {
    const world = await draining({ web: { spec: { terminationGracePeriodSeconds: 600 } } });
    await world.pass(60);
    expect(await world.terminatingPods()).toEqual(["web"]);
    expect(await world.node("node-a")).toBeDefined();
    expect(world.countOf("pods_eviction_requests_total")).toBe(1);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "Unknown", reason: "Draining" });
    expect(await world.events("node-a")).toContainEqual({
      type: "Warning",
      reason: "FailedDraining",
      message: "Failed to drain node, 1 pods are waiting to be evicted",
    });
    await world.removePods("web");
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
  });

  it("03:T-3 a pod a minute past its end no longer holds the node", async () => {
    const world = await draining({ web: { spec: { terminationGracePeriodSeconds: 20 } } });
    await world.pass(80);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "Unknown" });
    await world.pass(2);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "True" });
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
    expect(await world.terminatingPods()).toEqual(["web"]);
  });

  it("03:T-13 at least five seconds, for pods bound just before the taint was seen", async () => {
    const world = await draining({});
    await world.pass(3.5);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "Unknown" });
    expect(world.cloud.records()).toMatchObject([{ isTerminating: false }]);
    await world.run(["late"]);
    await world.pass(1);
    expect(await world.terminatingPods()).toEqual(["late"]);
    await world.pass(5);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "Unknown" });
    await world.removePods("late");
    await world.pass(1.1);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "True" });
  });

  it("03:T-14 Drained stays True when pods come back, and they are waited for", async () => {
    const world = await nodeWorld({ wrapProvider: (cloud) => ({ ...cloud, delete: () => Promise.resolve() }) });
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(8);
    const drained = await world.condition("a", "Drained");
    expect(drained).toMatchObject({ status: "True" });
    await world.run(["late"]);
    await world.pass(6);
    expect(await world.terminatingPods()).toEqual(["late"]);
    expect(await world.condition("a", "Drained")).toEqual(drained);
    expect(world.countOf("nodes_drained_total")).toBe(1);
  });

  it("a protected pod holds the node for ever, without noise", async () => {
    const world = await draining({ precious: { metadata: protectedBy("true") } });
    await world.pass(3_600);
    expect(await world.terminatingPods()).toEqual([]);
    expect(await world.node("node-a")).toBeDefined();
    expect(world.countOf("pods_eviction_requests_total")).toBe(0);
    expect(world.failures).toEqual([]);
    await world.client.patch(
      builtInTypes.Pod,
      { name: "precious", namespace: "default" },
      { kind: "merge", body: { metadata: { annotations: null } } },
    );
    await world.passEndingPods(30);
    expect(await world.node("node-a")).toBeUndefined();
  });
});

describe("tiers", () => {
  const daemon = { ownerReferences: ownedBy.daemonSet };
  const important = {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: "important" },
    value: 1_000_000_000,
  };
  const all: Readonly<Record<string, PodChanges>> = {
    "app-1": {},
    "app-2": { spec: { priorityClassName: "important" } },
    daemon: { metadata: daemon },
    critical: { spec: critical },
    "critical-too": { spec: nodeCritical },
    "critical-daemon": { metadata: daemon, spec: nodeCritical },
  };

  it("03:T-4 03:T-12 each goes when the one before it is gone", async () => {
    const world = await draining(all, important);
    expect(await world.terminatingPods()).toEqual(["app-1", "app-2"]);
    await world.removePods("app-1");
    await world.pass(10);
    expect(await world.terminatingPods()).toEqual(["app-2"]);
    await world.removePods("app-2");
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["daemon"]);
    await world.removePods("daemon");
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["critical", "critical-too"]);
    await world.removePods("critical", "critical-too");
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["critical-daemon"]);
    await world.removePods("critical-daemon");
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
  });

  it("03:T-4 a protected pod keeps its tier open", async () => {
    const world = await draining({ ...all, precious: { metadata: protectedBy("true") } }, important);
    await world.passEndingPods(60);
    const left = (await world.list(builtInTypes.Pod)).map(({ metadata }) => metadata.name);
    expect(left).toEqual(["critical", "critical-daemon", "critical-too", "daemon", "precious"]);
  });
});
