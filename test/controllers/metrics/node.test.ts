import { describe, expect, it } from "vitest";
import { labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { daemonSet, machine, podOn, pool } from "../pool-objects.ts";
import { metricsWorld } from "./metrics-world.ts";

const asking = (nodeName: string, name: string, owner?: typeof daemonSet) => {
  const pod = podOn(nodeName, name, owner ? { owner } : {});
  const resources = { requests: { cpu: "500m", memory: "1Gi" }, limits: { cpu: "1", memory: "2Gi" } };
  return { ...pod, spec: { ...pod.spec, containers: [{ name: "app", image: "app", resources }] } };
};

const gauges = [
  "allocatable",
  "total_pod_requests",
  "total_pod_limits",
  "total_daemon_requests",
  "total_daemon_limits",
  "system_overhead",
];

describe("metrics.node", () => {
  it("03 §6.1 shows what nodes have and what pods ask of them, cpu in cores", async () => {
    const world = await metricsWorld();
    await world.create(pool());
    await machine(world, "one", { labels: { [labels.zone]: "zone-a" }, node: { isInitialized: true } });
    const node = await world.get<KubeObject>(builtInTypes.Node, "one");
    if (node !== undefined) await world.status(node, { allocatable: { cpu: "3900m", memory: "15Gi", pods: "110" } });
    await world.create(asking("one", "web"), asking("one", "agent", daemonSet));
    const byResource = (name: string) => world.byLabel(`karpenter_nodes_${name}`, "resource_type");
    const gib = 1_073_741_824;
    expect(await byResource("allocatable")).toMatchObject({ cpu: 3.9, memory: 15 * gib, pods: 110 });
    expect(await byResource("total_pod_requests")).toMatchObject({ cpu: 1, memory: 2 * gib, pods: 2 });
    expect(await byResource("total_pod_limits")).toMatchObject({ cpu: 2, memory: 4 * gib });
    expect(await byResource("total_daemon_requests")).toMatchObject({ cpu: 0.5, memory: gib });
    expect(await byResource("total_daemon_limits")).toMatchObject({ cpu: 1, memory: 2 * gib });
    expect(await byResource("system_overhead")).toMatchObject({ cpu: 0.1, memory: gib, pods: 0 });
    await world.stop();
  });

  it("03 §6.1 carries the labels everybody knows, and whether the node is ours", async () => {
    const world = await metricsWorld();
    await world.create(pool());
    await machine(world, "one", { labels: { [labels.zone]: "zone-a" }, node: { isInitialized: true } });
    await world.create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "own", labels: { [labels.arch]: "arm64" } },
      spec: { providerID: "x://own" },
    });
    const found = await world.samples("karpenter_nodes_current_lifetime_seconds");
    expect(found.map((one) => one.labels)).toMatchObject([
      { node_name: "one", managed: "true", nodepool: "default", zone: "zone-a", instance_type: "small", arch: "" },
      { node_name: "own", managed: "false", nodepool: "", zone: "", instance_type: "", arch: "arm64" },
    ]);
    const named = Object.keys(found[0]?.labels ?? {});
    for (const name of ["phase", "region", "os", "capacity_type", "windows_build"]) expect(named).toContain(name);
    await world.stop();
  });

  it("03 §6.1 shows the age of nodes and how much of the cluster is asked for", async () => {
    const world = await metricsWorld();
    await world.create(pool());
    await machine(world, "one", { node: { isInitialized: true } });
    await machine(world, "two", { node: { isInitialized: true } });
    await world.create(asking("one", "web"), asking("two", "web-2"));
    await world.pass(90);
    expect(await world.byLabel("karpenter_nodes_current_lifetime_seconds", "node_name")).toEqual({ one: 90, two: 90 });
    const utilization = await world.byLabel("karpenter_cluster_utilization_percent", "resource_type");
    expect(utilization).toMatchObject({ cpu: 12.5, memory: 6.25 });
    await world.stop();
  });

  it("03 §6.1 nothing is left of a node that is gone", async () => {
    const world = await metricsWorld();
    await world.create(pool());
    await machine(world, "one", { node: { isInitialized: true } });
    expect(await world.samples("karpenter_nodes_allocatable")).not.toEqual([]);
    await world.client.delete(builtInTypes.Node, { name: "one" });
    await world.pass(1);
    for (const name of [...gauges, "current_lifetime_seconds"]) {
      expect(await world.samples(`karpenter_nodes_${name}`)).toEqual([]);
    }
    expect(await world.samples("karpenter_cluster_utilization_percent")).toEqual([]);
    await world.stop();
  });
});
