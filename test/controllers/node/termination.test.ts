import { describe, expect, it } from "vitest";
import { getCondition, isStatusConditionTrue } from "../../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import { finalizers, labels, taints } from "../../../src/api/labels.ts";
import { CloudError } from "../../../src/cloud/cloud-error.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { beforeWrites, type ClientCall } from "../../world/intercept-calls.ts";
import { claimNamed, nodeWithId, recordedProvider } from "../node-claim/node-claim-world.ts";
import { managedNodeLabels, nodeWorld, protectedBy } from "./node-world.ts";

describe("the end of a Node", () => {
  it("03:T-1 03:T-8 03:T-9 goes with its claim and its machine", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(1);
    expect((await world.requireClaim("a")).metadata.deletionTimestamp).toBeDefined();
    await world.pass(30);
    expect(await world.node("node-a")).toBeUndefined();
    expect(await world.claims()).toEqual([]);
    expect(world.cloud.records()).toEqual([]);
    expect(world.logged("deleted node")).toMatchObject([
      { level: "info", controller: "node.termination", Node: { name: "node-a" }, NodeClaim: { name: "a" } },
    ]);
    expect(world.failures).toEqual([]);
  });

  it("03:T-8 the conditions tell how far it is", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(1);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "Unknown", reason: "Draining" });
    expect(await world.condition("a", "VolumesDetached")).toBeUndefined();
    await world.pass(5);
    const since = { status: "True", lastTransitionTime: "2026-01-01T00:00:07Z" };
    for (const type of ["Drained", "VolumesDetached", "InstanceTerminating"]) {
      expect(await world.condition("a", type)).toMatchObject({ ...since, reason: type });
    }
    const { generation } = (await world.requireClaim("a")).metadata;
    expect(await world.condition("a", "Ready")).toMatchObject({ observedGeneration: generation });
  });

  it("03:T-9 counts three things, each once", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    const zone = (await world.requireClaim("a")).metadata.labels?.[labels.zone];
    await world.pass(58);
    await world.deleteNode();
    await world.pass(30);
    const told = world.counted.filter(({ name }) => name.startsWith("nodes_") && name !== "nodes_created_total");
    expect(told).toEqual([
      { name: "nodes_drained_total", labels: { nodepool: "default" }, value: 1 },
      { name: "nodes_terminated_total", labels: { nodepool: "default", zone }, value: 1 },
      { name: "nodes_termination_duration_seconds", labels: { nodepool: "default" }, value: expect.any(Number) },
      { name: "nodes_lifetime_duration_seconds", labels: { nodepool: "default" }, value: expect.any(Number) },
    ]);
    const [lasted = 0, lived = 0] = told.slice(2).map(({ value }) => value);
    expect(lasted).toBeGreaterThan(5);
    expect(lasted).toBeLessThan(15);
    expect(lived - lasted).toBeCloseTo(59, 0);
  });

  it("03:T-1 03:T-32 without a claim nobody waits and no machine is ended", async () => {
    const counting = recordedProvider();
    const world = await nodeWorld({ wrapProvider: counting.cloud });
    await world.nodeWithoutClaim("kwok://unknown");
    await world.run(["web"], { node: "stray" });
    await world.deleteNode("stray");
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["web"]);
    await world.removePods("web");
    await world.pass(1);
    expect(await world.node("stray")).toBeUndefined();
    expect(counting.calls).toEqual([]);
    expect(world.countOf("nodes_drained_total")).toBe(0);
    expect(world.countOf("nodes_terminated_total")).toBe(1);
  });

  it("03:T-1 03:S-12 waits for a claim whose provider id it has not seen yet", async () => {
    const world = await nodeWorld({ faults: { watchDelayMs: { NodeClaim: 20_000 } } });
    const claim = await world.create(claimNamed("late", {}, { finalizers: ["example.com/hold"] }));
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const conditions = ["Launched", "Registered"].map((type) => {
      return { type, status: "True", reason: type, message: "", lastTransitionTime };
    });
    await world.status(claim, { providerID: "kwok://late", conditions });
    const { apiVersion, kind, metadata } = claim;
    const node = nodeWithId("kwok://late", { name: "node-late", labels: managedNodeLabels });
    const ownerReferences = [{ apiVersion, kind, name: "late", uid: metadata.uid ?? "" }];
    const held = { ...node.metadata, ownerReferences, finalizers: [finalizers.termination] };
    await world.create({ ...node, metadata: held });
    await world.client.delete(builtInTypes.Node, { name: "node-late" });
    await world.pass(25);
    expect((await world.claim("late"))?.metadata.deletionTimestamp).toBeDefined();
  });

  it("03:T-1 with two claims it is as with none, and both stay", async () => {
    const counting = recordedProvider();
    const world = await nodeWorld({ wrapProvider: counting.cloud });
    await world.registeredNode();
    const { status } = await world.requireClaim("a");
    const twin = await world.create(claimNamed("twin", {}, { finalizers: ["example.com/hold"] }));
    await world.status(twin, { providerID: status?.providerID });
    counting.calls.length = 0;
    await world.deleteNode();
    await world.pass(2);
    expect(await world.node("node-a")).toBeUndefined();
    expect((await world.claims()).map(({ metadata }) => metadata.deletionTimestamp)).toEqual([undefined, undefined]);
    expect(counting.calls).not.toContain("delete");
  });

  it("03 §2.1 Nodes of others, Nodes without the finalizer and Nodes that stay are left alone", async () => {
    const world = await nodeWorld();
    await world.nodeWithoutClaim("kwok://x", { name: "foreign", labels: { [labels.nodePool]: "default" } });
    await world.registeredNode("b");
    await world.create({
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "held", labels: managedNodeLabels, finalizers: ["example.com/hold"] },
    });
    await world.deleteNode("foreign");
    await world.deleteNode("held");
    await world.pass(60);
    for (const name of ["foreign", "held", "node-b"]) {
      expect((await world.node(name))?.spec?.taints ?? []).not.toContainEqual(
        expect.objectContaining(taints.disrupted),
      );
    }
    expect((await world.node("foreign"))?.metadata.finalizers).toEqual([finalizers.termination]);
  });

  it("several end side by side", async () => {
    const world = await nodeWorld();
    const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    for (const name of names) await world.registeredNode(name);
    for (const name of names) await world.client.delete(builtInTypes.Node, { name: `node-${name}` });
    await world.pass(20);
    expect(await world.list(builtInTypes.Node)).toEqual([]);
    expect(await world.claims()).toEqual([]);
    expect(world.countOf("nodes_terminated_total")).toBe(10);
  });

  it("03:T-9 03:S-10 other finalizers survive", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.patchNode("node-a", {
      metadata: { finalizers: ["example.com/one", finalizers.termination, "example.com/two"] },
    });
    await world.deleteNode();
    await world.pass(30);
    expect((await world.node("node-a"))?.metadata.finalizers).toEqual(["example.com/one", "example.com/two"]);
    expect(world.countOf("nodes_terminated_total")).toBe(1);
  });

  it("03:T-30 stays for as long as the machine does, asking every five seconds", async () => {
    const counting = recordedProvider({ delete: () => Promise.resolve() });
    const world = await nodeWorld({ wrapProvider: counting.cloud });
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(8);
    counting.calls.length = 0;
    await world.pass(600);
    expect(counting.calls.length).toBe(120);
    expect(await world.node("node-a")).toBeDefined();
  });

  it("03:T-30 an error of the cloud is tried again; what was found out before is written", async () => {
    const counting = recordedProvider({ delete: () => Promise.reject(new Error("no answer")) });
    const world = await nodeWorld({ wrapProvider: counting.cloud });
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(60);
    expect(await world.node("node-a")).toBeDefined();
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "True" });
    expect(await world.condition("a", "InstanceTerminating")).toBeUndefined();
    expect(world.countOf("nodes_drained_total")).toBe(1);
    expect(counting.calls.filter((call) => call === "delete").length).toBeGreaterThan(5);
    expect(world.failures.length).toBeGreaterThan(5);
  });
});

describe("a machine that is gone", () => {
  it("03:T-5 lets its Node go at once, pods or not, when the kubelet is silent too", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"]);
    await world.budget(0);
    await world.setReady("Unknown");
    world.loseInstance();
    await world.deleteNode();
    await world.pass(1);
    expect(await world.node("node-a")).toBeUndefined();
    expect(await world.terminatingPods()).toEqual([]);
  });

  it("03:I-7 an instance that dies while its Node is drained takes the Node and the claim along", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], { metadata: protectedBy("true") });
    await world.deleteNode();
    await world.pass(60);
    expect(await world.node("node-a")).toBeDefined();
    await world.setReady("Unknown");
    world.loseInstance();
    await world.pass(10);
    expect(await world.node("node-a")).toBeUndefined();
    expect(await world.claims()).toEqual([]);
  });

  it("03:T-5 is not believed while the kubelet reports", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], { metadata: protectedBy("true") });
    world.loseInstance();
    await world.deleteNode();
    await world.pass(60);
    expect(await world.node("node-a")).toBeDefined();
    expect(await world.podNamed("web")).toBeDefined();
  });

  it("03:T-5 03 §8.4 nothing is concluded from an error", async () => {
    const world = await nodeWorld({
      wrapProvider: (cloud) => ({ ...cloud, get: () => Promise.reject(new Error("no answer")) }),
    });
    await world.registeredNode();
    await world.setReady("False");
    await world.deleteNode();
    await world.pass(30);
    expect((await world.node("node-a"))?.metadata.finalizers).toEqual([finalizers.termination]);
    expect((await world.node("node-a"))?.spec?.taints ?? []).toEqual([]);
    expect(world.failures.length).toBeGreaterThan(3);
  });

  it.each([
    ["without an id", {}],
    ["with an empty one", { providerID: "" }],
  ])("03:T-5 nothing is concluded of a Node %s: it is drained as one without a claim", async (_, spec) => {
    const asked: string[] = [];
    const get = (id: string) => {
      asked.push(id);
      return Promise.reject(new CloudError("not-found", id));
    };
    const world = await nodeWorld({ wrapProvider: (cloud) => ({ ...cloud, get }) });
    await world.nodeWithoutClaim("", { isReady: false, spec });
    await world.run(["web"], { node: "stray" });
    await world.deleteNode("stray");
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["web"]);
    expect(asked).toEqual([]);
    await world.pass(120); // no kubelet ends the pod: it no longer holds the Node
    expect(await world.node("stray")).toBeUndefined();
  });
});

describe("the marks of a Node that ends", () => {
  const own = { key: "example.com/mine", effect: "NoSchedule", value: "1" };
  const disrupted = { key: "karpenter.sh/disrupted", effect: "NoSchedule" };
  const setTaints = ({ client }: Pick<ClientCall, "client">, ...all: readonly object[]) =>
    client.patch(builtInTypes.Node, { name: "node-a" }, { kind: "merge", body: { spec: { taints: all } } });

  it("03:T-7 are a taint and a label, made in one locked write", async () => {
    const bodies: unknown[] = [];
    const isOurs = ({ type, verb }: ClientCall) => type === builtInTypes.Node && verb === "patch";
    const world = await nodeWorld({ wrapClient: beforeWrites((call) => isOurs(call) && bodies.push(call.body)) });
    await world.registeredNode();
    await world.run(["web"], { metadata: protectedBy("true") });
    await setTaints(world, own, { ...disrupted, effect: "NoExecute" });
    bodies.length = 0;
    await world.deleteNode();
    await world.pass(30);
    const node = await world.node("node-a");
    expect(node?.spec?.taints).toEqual([own, disrupted]);
    expect(node?.metadata.labels?.[labels.excludeFromLoadBalancers]).toBe("karpenter");
    expect(bodies).toMatchObject([{ metadata: { resourceVersion: expect.any(String) } }]);
    expect(world.logged("tainted node")).toMatchObject([
      { level: "info", "taint.Key": disrupted.key, "taint.Value": "", "taint.Effect": "NoSchedule" },
    ]);
  });

  it("03:T-7 a taint that is there is left as it is", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], { metadata: protectedBy("true") });
    await setTaints(world, { ...disrupted, value: "x" }, own);
    await world.deleteNode();
    await world.pass(3);
    const node = await world.node("node-a");
    expect(node?.spec?.taints).toEqual([{ ...disrupted, value: "x" }, own]);
    expect(node?.metadata.labels?.[labels.excludeFromLoadBalancers]).toBe("karpenter");
  });

  it("03:T-7 03:S-10 somebody who writes in between is not overwritten, and nobody hears of it", async () => {
    let isRivalDue = false;
    const through = beforeWrites(async (call) => {
      if (!isRivalDue || call.type !== builtInTypes.Node) return;
      isRivalDue = false;
      await setTaints(call, own);
    });
    const world = await nodeWorld({ wrapClient: through });
    await world.registeredNode();
    isRivalDue = true;
    await world.deleteNode();
    await world.pass(2);
    expect((await world.node("node-a"))?.spec?.taints).toEqual([own, disrupted]);
    expect(world.logged("tainted node")).toHaveLength(1); // what was not written is not told
    expect(world.failures).toEqual([]);
  });
});

describe("what is written on the claim", () => {
  const saysDrained = ({ type, body }: ClientCall) =>
    type === karpenterTypes.NodeClaim &&
    isStatusConditionTrue(body as Parameters<typeof isStatusConditionTrue>[0], "Drained");

  it("03:T-8 03:S-13 a drain counts once it is written, and somebody who was faster is not overwritten", async () => {
    let isRivalDue = true;
    const through = beforeWrites(async (call) => {
      if (!isRivalDue || !saysDrained(call)) return;
      isRivalDue = false;
      const conditions = ((call.body as NodeClaim).status?.conditions ?? []).filter(({ type }) => type !== "Drained");
      const late = { ...conditions[0], type: "Consolidatable", status: "True", reason: "Late", message: "" };
      const body = { status: { conditions: [...conditions, late] } };
      await call.client.patch(call.type, call, { kind: "merge", body }, { subresource: "status" });
    });
    const world = await nodeWorld({ wrapClient: through });
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(6);
    expect(isRivalDue).toBe(false);
    expect(await world.condition("a", "Consolidatable")).toMatchObject({ reason: "Late" });
    await world.pass(20);
    expect(await world.node("node-a")).toBeUndefined();
    expect(world.countOf("nodes_drained_total")).toBe(1);
    expect(world.failures).toEqual([]);
  });

  it("03:T-8 a drain that nobody could write down is not counted", async () => {
    const through = beforeWrites((call) => saysDrained(call) && Promise.reject(new Error("no answer")));
    const world = await nodeWorld({ wrapClient: through });
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(60);
    expect(await world.node("node-a")).toBeDefined();
    expect(world.countOf("nodes_drained_total")).toBe(0);
  });

  it("03:T-8 our own deletion of the claim is nobody's conflict: it is written at the first try", async () => {
    const tries: string[] = [];
    const through = beforeWrites(({ type, body }) => {
      if (type === karpenterTypes.NodeClaim && getCondition(body as NodeClaim, "Drained")) tries.push("drained");
    });
    const world = await nodeWorld({ wrapClient: through });
    await world.registeredNode();
    await world.deleteNode();
    await world.pass(0.1);
    expect(await world.condition("a", "Drained")).toMatchObject({ status: "Unknown" });
    expect(tries).toHaveLength(1);
  });
});

describe("a restart in the middle", () => {
  it("03 §8.3 goes on from what the objects say, and fills the queue again", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], { metadata: protectedBy("20s") });
    await world.deleteNode();
    await world.pass(10);
    const drained = await world.condition("a", "Drained");
    await world.restart();
    await world.pass(5);
    expect(await world.condition("a", "Drained")).toEqual(drained);
    expect(world.logged("tainted node")).toHaveLength(1);
    await world.passEndingPods(30);
    expect(await world.node("node-a")).toBeUndefined();
    expect(world.countOf("pods_drained_total")).toBe(1);
  });
});
