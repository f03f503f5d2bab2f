import { describe, expect, it } from "vitest";
import { defaultGates } from "../../../src/controllers/settings.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { startAt } from "../controller-world.ts";
import { claim, kwokClass, machine, pool } from "../pool-objects.ts";
import { metricsWorld } from "./metrics-world.ts";

const at = (seconds: number): string => new Date(startAt + seconds * 1_000).toISOString().replace(".000Z", "Z");
const condition = (status: string, seconds: number, more: object = {}) => ({
  type: "Launched",
  status,
  lastTransitionTime: at(seconds),
  reason: status === "True" ? "Launched" : "Waiting",
  message: "",
  ...more,
});

const extra = {
  karpenter_kwok_sh_kwoknodeclass: "default",
  karpenter_k8s_aws_ec2nodeclass: "",
  karpenter_sh_nodepool: "default",
};

describe("conditions in metrics and Events", () => {
  it("03 §6.1 counts and times transitions, under the new and under the old names", async () => {
    const world = await metricsWorld();
    const made = await world.create(claim("a"));
    await world.status(made, { conditions: [condition("Unknown", 0)] });
    await world.status(made, { conditions: [condition("True", 30)] });
    const transitions = await world.samples("operator_nodeclaim_status_condition_transitions_total");
    expect(transitions.map(({ labels, value }) => ({ ...labels, value }))).toEqual([
      { type: "Launched", status: "Unknown", reason: "Waiting", ...extra, value: 1 },
      { type: "Launched", status: "True", reason: "Launched", ...extra, value: 1 },
    ]);
    const seconds = await world.samples("operator_nodeclaim_status_condition_transition_seconds");
    const sums = seconds.filter(({ suffix }) => suffix === "_sum");
    expect(sums.map(({ labels, value }) => ({ ...labels, value }))).toEqual([
      { type: "Launched", status: "Unknown", ...extra, value: 30 },
    ]);
    const old = await world.samples("operator_status_condition_transitions_total");
    expect(old.map(({ labels }) => labels)).toEqual([
      { type: "Launched", status: "Unknown", reason: "Waiting", group: "karpenter.sh", kind: "NodeClaim" },
      { type: "Launched", status: "True", reason: "Launched", group: "karpenter.sh", kind: "NodeClaim" },
    ]);
    await world.stop();
  });

  it("03 §6.2 tells of a transition in an Event, once there was something before it", async () => {
    const world = await metricsWorld();
    const made = await world.create(claim("a"));
    await world.status(made, { conditions: [condition("Unknown", 0)] });
    expect(await world.events("a")).toEqual([]);
    await world.status(made, { conditions: [condition("False", 3, { reason: "LaunchFailed", message: "no luck" })] });
    await world.status(made, { conditions: [condition("False", 3, { reason: "LaunchFailed", message: "again" })] });
    await world.pass(1);
    expect(await world.events("a")).toEqual([
      { type: "Normal", reason: "Launched", message: "Launched went from Unknown to False, LaunchFailed: no luck" },
    ]);
    await world.stop();
  });

  it("03 §6.1 shows conditions as they are and since when; what they were is gone", async () => {
    const world = await metricsWorld();
    const made = await world.create(claim("a"));
    await world.status(made, { conditions: [condition("Unknown", 0)] });
    await world.pass(40);
    await world.status(made, { conditions: [condition("True", 30)] });
    const now = { type: "Launched", status: "True", reason: "Launched", name: "a", namespace: "" };
    const count = await world.samples("operator_nodeclaim_status_condition_count");
    expect(count.map(({ labels, value }) => ({ ...labels, value }))).toEqual([{ ...now, ...extra, value: 1 }]);
    const seconds = await world.samples("operator_nodeclaim_status_condition_current_status_seconds");
    expect(seconds.map(({ value }) => value)).toEqual([10]);
    const old = await world.samples("operator_status_condition_count");
    expect(old.map(({ labels }) => labels)).toEqual([{ ...now, group: "karpenter.sh", kind: "NodeClaim" }]);
    await world.stop();
  });

  it("03 §6.1 03 §6.2 tells how long an object goes, how long it took, and which finalizer went", async () => {
    const world = await metricsWorld();
    await world.create(claim("a", { isHeld: true }));
    await world.client.delete(karpenterTypes.NodeClaim, { name: "a" });
    await world.pass(25);
    expect(await world.byLabel("operator_nodeclaim_termination_current_time_seconds", "name")).toEqual({ a: 25 });
    const body = { metadata: { finalizers: null } };
    await world.client.patch(karpenterTypes.NodeClaim, { name: "a" }, { kind: "merge", body });
    await world.pass(1);
    expect(await world.samples("operator_nodeclaim_termination_current_time_seconds")).toEqual([]);
    expect(await world.samples("operator_nodeclaim_status_condition_count")).toEqual([]);
    const took = await world.samples("operator_nodeclaim_termination_duration_seconds");
    expect(took.find(({ suffix }) => suffix === "_sum")).toEqual({ suffix: "_sum", labels: extra, value: 25 });
    const old = await world.samples("operator_termination_duration_seconds");
    expect(old.find(({ suffix }) => suffix === "_count")?.value).toBe(1);
    expect(await world.events("a")).toEqual([
      { type: "Normal", reason: "Finalized", message: "Finalized karpenter.sh/termination" },
    ]);
    await world.stop();
  });

  it("03 §6.1 tells of pools, nodes, node classes and, where they are switched on, buffers", async () => {
    const world = await metricsWorld({ settings: { gates: { ...defaultGates, CapacityBuffer: true } } });
    const ready = { type: "Ready", status: "True", lastTransitionTime: at(0), reason: "Ready", message: "" };
    await world.status(await world.create(pool()), { conditions: [ready] });
    await world.status(await world.create(kwokClass()), { conditions: [ready] });
    await machine(world, "one", { node: { isInitialized: true } });
    const [node] = await world.list({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
    if (node !== undefined) await world.status(node, { conditions: [ready] });
    for (const kind of ["nodepool", "kwoknodeclass", "node"]) {
      const found = await world.samples(`operator_${kind}_status_condition_count`);
      expect(found, kind).toMatchObject([{ value: 1, labels: { type: "Ready" } }]);
    }
    const [ofNode] = await world.samples("operator_node_status_condition_count");
    expect(ofNode?.labels).toMatchObject({ karpenter_sh_initialized: "true", karpenter_sh_nodepool: "default" });
    const deprecated = await world.samples("operator_status_condition_count");
    expect(deprecated.map(({ labels }) => labels["kind"])).toEqual(["NodePool"]); // not Node, not node classes
    expect(world.registry.getSingleMetric("operator_capacitybuffer_status_condition_count")).toBeDefined();
    await world.stop();
  });
});
