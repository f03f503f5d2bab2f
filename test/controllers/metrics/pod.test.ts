import { describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { WaitingPods } from "../../../src/controllers/metrics/waiting-pods.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { promMetrics } from "../../../src/operator/metrics/prom-metrics.ts";
import { PodTimes } from "../../../src/state/pod-times.ts";
import { scrape } from "../../operator/scrape.ts";
import { startAt } from "../controller-world.ts";
import { machine, podOn, pool } from "../pool-objects.ts";
import { metricsWorld } from "./metrics-world.ts";

type TestPod = Pod & KubeObject;

const at = (seconds: number): string => new Date(startAt + seconds * 1_000).toISOString().replace(".000Z", "Z");
const condition = (type: string, status: string, seconds: number) => ({
  type,
  status,
  lastTransitionTime: at(seconds),
});

function waiting(name = "web"): object {
  const { spec, ...rest } = podOn("", name);
  return { ...rest, spec: { containers: spec.containers } };
}

const unbound = "karpenter_pods_unbound_time_seconds";
const unstarted = "karpenter_pods_unstarted_time_seconds";
const undecided = "karpenter_pods_provisioning_scheduling_undecided_time_seconds";

describe("metrics.pod", () => {
  it("03 §6.1 shows each pod with its node, its owner and its state", async () => {
    const world = await metricsWorld();
    await world.create(pool());
    await machine(world, "one", {
      labels: { "topology.kubernetes.io/zone": "zone-a", "karpenter.sh/capacity-type": "spot" },
      node: { isInitialized: true },
    });
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet" };
    const running = await world.create<TestPod>(podOn("one", "web", { owner }));
    await world.status(running, { phase: "Running", conditions: [condition("Ready", "True", 0)] });
    await world.create(waiting("idle"));
    const states = await world.samples("karpenter_pods_state");
    expect(states.map(({ labels, value }) => ({ ...labels, value }))).toEqual([
      {
        name: "idle",
        namespace: "default",
        owner: "",
        node: "",
        scheduled: "false",
        nodepool: "",
        zone: "",
        arch: "",
        capacity_type: "",
        instance_type: "",
        phase: "Pending",
        ready: "false",
        managed: "false",
        value: 1,
      },
      {
        name: "web",
        namespace: "default",
        owner: "/apis/apps/v1/namespaces/default/replicasets/owner",
        node: "one",
        scheduled: "true",
        nodepool: "default",
        zone: "zone-a",
        arch: "",
        capacity_type: "spot",
        instance_type: "small",
        phase: "Running",
        ready: "true",
        managed: "true",
        value: 1,
      },
    ]);
    await world.stop();
  });

  it("03 §6.1 a pod on a node of nobody's pool is not managed, and a changed pod has one series", async () => {
    const world = await metricsWorld();
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: "own" }, spec: { providerID: "x://own" } };
    await world.create(node);
    const pod = await world.create<TestPod>(podOn("own", "web"));
    await world.status(pod, { phase: "Failed" });
    const states = await world.samples("karpenter_pods_state");
    expect(states.map(({ labels }) => [labels["managed"], labels["phase"]])).toEqual([["false", "Failed"]]);
    await world.stop();
  });

  it("03 §6.1 tells how long a pod has waited for a node, then how long it took", async () => {
    const world = await metricsWorld();
    const pod = await world.create<TestPod>(waiting());
    await world.pass(20);
    expect(await world.byLabel(unbound, "name")).toEqual({ web: 20 });
    await world.status(pod, { phase: "Pending", conditions: [condition("PodScheduled", "True", 24)] });
    expect(await world.byLabel(unbound, "name")).toEqual({});
    expect(await world.byLabel(unstarted, "name")).toEqual({ web: 20 });
    expect(await world.observed("karpenter_pods_bound_duration_seconds")).toEqual({ count: 1, sum: 24 });
    await world.status(pod, { phase: "Running" }); // says the same again
    expect(await world.observed("karpenter_pods_bound_duration_seconds")).toEqual({ count: 1, sum: 24 });
    expect((await world.observed("karpenter_pods_provisioning_bound_duration_seconds")).count).toBe(0);
    await world.stop();
  });

  it("03 §6.1 tells how long a pod has waited to start, then how long it took", async () => {
    const world = await metricsWorld();
    const pod = await world.create<TestPod>(waiting());
    const scheduled = condition("PodScheduled", "True", 2);
    await world.status(pod, { phase: "Running", conditions: [scheduled, condition("Ready", "False", 3)] });
    await world.pass(10);
    expect(await world.byLabel(unstarted, "name")).toEqual({ web: 10 });
    await world.status(pod, { phase: "Running", conditions: [scheduled, condition("Ready", "True", 12)] });
    expect(await world.byLabel(unstarted, "name")).toEqual({});
    expect(await world.observed("karpenter_pods_startup_duration_seconds")).toEqual({ count: 1, sum: 12 });
    await world.stop();
  });

  it("03 §6.1 pods that are over without having been ready have no startup time", async () => {
    const world = await metricsWorld();
    const pod = await world.create<TestPod>(waiting());
    await world.status(pod, { phase: "Succeeded", conditions: [condition("Ready", "False", 5)] });
    expect(await world.byLabel(unstarted, "name")).toEqual({});
    expect(await world.byLabel(unbound, "name")).toEqual({});
    expect((await world.observed("karpenter_pods_startup_duration_seconds")).count).toBe(0);
    await world.stop();
  });

  it("03 §6.1 pods that ran when we came are not counted", async () => {
    const { metrics, registry } = promMetrics();
    const waits = new WaitingPods({ metrics, times: new PodTimes() });
    const conditions = [condition("PodScheduled", "True", 1), condition("Ready", "True", 2)];
    waits.observe({ ...podOn("own", "old"), status: { phase: "Running", conditions } });
    const seen = await scrape(registry);
    expect(seen.get("karpenter_pods_bound_duration_seconds")?.samples.get("_count{}")).toBe(0);
    expect(seen.get("karpenter_pods_startup_duration_seconds")?.samples.get("_count{}")).toBe(0);
    expect([...waits.unbound(), ...waits.unstarted()]).toEqual([]);
  });

  it("02:S-45 from the first round that placed it: waiting, bound, started; then its times are forgotten", async () => {
    const world = await metricsWorld();
    const pod = await world.create<TestPod>(waiting());
    const key = "default/web";
    world.cluster.podTimes.markPlaced(pod, { now: world.clock.now(), isPoolHealthy: true });
    await world.pass(6);
    expect(await world.byLabel("karpenter_pods_provisioning_unbound_time_seconds", "name")).toEqual({ web: 6 });
    expect(await world.byLabel("karpenter_pods_provisioning_unstarted_time_seconds", "name")).toEqual({ web: 6 });
    const conditions = [condition("PodScheduled", "True", 8), condition("Ready", "True", 9)];
    await world.status(pod, { phase: "Running", conditions });
    expect(await world.observed("karpenter_pods_provisioning_bound_duration_seconds")).toEqual({ count: 1, sum: 8 });
    expect(await world.observed("karpenter_pods_provisioning_startup_duration_seconds")).toEqual({ count: 1, sum: 9 });
    expect(world.cluster.podTimes.get(key)).toEqual({});
    await world.stop();
  });

  it("02:S-45 a placement that is taken back no longer counts", async () => {
    const world = await metricsWorld();
    const pod = await world.create<TestPod>(waiting());
    world.cluster.podTimes.markPlaced(pod, { now: world.clock.now(), isPoolHealthy: true });
    world.cluster.podTimes.markRefused(pod);
    expect(await world.byLabel("karpenter_pods_provisioning_unbound_time_seconds", "name")).toEqual({});
    await world.stop();
  });

  describe("pods nobody has decided on", () => {
    it("03 §6.1 are shown from the moment they were seen", async () => {
      const world = await metricsWorld();
      const pod = await world.create<TestPod>(waiting());
      expect(await world.byLabel(undecided, "name")).toEqual({});
      world.cluster.podTimes.ack(pod, world.clock.now());
      await world.pass(7);
      expect(await world.byLabel(undecided, "name")).toEqual({ web: 7 });
      await world.stop();
    });

    it("03 §6.1 until there is a decision", async () => {
      const world = await metricsWorld();
      const pod = await world.create<TestPod>(waiting());
      world.cluster.podTimes.ack(pod, world.clock.now());
      world.cluster.podTimes.markDecided(pod, world.clock.now());
      expect(await world.byLabel(undecided, "name")).toEqual({});
      await world.stop();
    });

    it("03 §6.1 until they are bound", async () => {
      const world = await metricsWorld();
      const pod = await world.create<TestPod>(waiting());
      world.cluster.podTimes.ack(pod, world.clock.now());
      await world.status(pod, { phase: "Pending", conditions: [condition("PodScheduled", "True", 1)] });
      expect(await world.byLabel(undecided, "name")).toEqual({});
      await world.stop();
    });
  });

  it("03 §6.1 nothing is left of a pod that is gone", async () => {
    const world = await metricsWorld();
    const pod = await world.create<TestPod>(waiting());
    world.cluster.podTimes.ack(pod, world.clock.now());
    await world.client.delete(builtInTypes.Pod, { name: "web", namespace: "default" }, { gracePeriodSeconds: 0 });
    await world.pass(1);
    for (const name of ["karpenter_pods_state", unbound, unstarted, undecided]) {
      expect(await world.samples(name)).toEqual([]);
    }
    await world.stop();
  });

  it("03 §6.4 nothing is shown where cluster state is not to be observed", async () => {
    const world = await metricsWorld({ settings: { isClusterStateObservable: false } });
    await world.create(waiting());
    expect(await world.samples("karpenter_pods_state")).toEqual([]);
    expect([...world.registry.getMetricsAsArray()].some(({ name }) => name.startsWith("operator_"))).toBe(false);
    await world.stop();
  });
});
