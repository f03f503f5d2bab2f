import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { KubeError } from "../../../src/kube/kube-error.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { beforeWrites, type ClientCall } from "../../world/intercept-calls.ts";
import { type NodeWorld, nodeWorld, protectedBy } from "./node-world.ts";

const isEviction = ({ subresource }: ClientCall) => subresource === "eviction";
const web = { name: "web", namespace: "default" };

/** A node that ends, with one pod. `first` happens once, after the decision to evict it and before the server hears. */
async function evicting(first?: (call: ClientCall, world: NodeWorld) => Promise<unknown>): Promise<NodeWorld> {
  let isDue = first !== undefined;
  const through = beforeWrites(async (call) => {
    if (!isDue || !isEviction(call)) return;
    isDue = false;
    await first?.(call, world);
  });
  const world = await nodeWorld({ wrapClient: through });
  await world.registeredNode();
  await world.run(["web"]);
  return world;
}

const remove = ({ client }: ClientCall) => client.delete(builtInTypes.Pod, web, { gracePeriodSeconds: 0 });
const codes = ({ counted }: NodeWorld) =>
  counted.filter(({ name }) => name === "pods_eviction_requests_total").map(({ labels }) => labels["code"]);
const evictedEvent = { type: "Normal", reason: "Evicted", message: "Evicted pod: Forceful Termination" };

describe("an eviction", () => {
  it("03:T-43 that nobody minds is told and counted, once", async () => {
    const world = await evicting();
    await world.deleteNode();
    await world.pass(10);
    expect(await world.terminatingPods()).toEqual(["web"]);
    expect(codes(world)).toEqual(["200"]);
    expect(world.countOf("pods_drained_total", { reason: "Forceful Termination" })).toBe(1);
    expect(await world.events("web")).toEqual([evictedEvent]);
    expect(world.failures).toEqual([]);
  });

  it("03:T-43 that a budget allows is as good", async () => {
    const world = await evicting();
    await world.budget(1);
    await world.deleteNode();
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["web"]);
    const messages = (await world.events("node-a")).map(({ message }) => message);
    expect(messages.filter((message) => message.includes("cannot be evicted"))).toEqual([]);
    expect(codes(world)).toEqual(["200"]);
  });

  it("03:T-44 of a pod that is gone meanwhile is nobody's trouble", async () => {
    const world = await evicting(remove);
    await world.deleteNode();
    await world.pass(20);
    expect(codes(world)).toEqual(["404"]);
    expect(await world.events("web")).toEqual([]);
    expect(world.countOf("pods_drained_total")).toBe(0);
    expect(world.failures).toEqual([]);
    expect(await world.node("node-a")).toBeUndefined();
  });

  it("03:T-44 03:T-41 of a pod whose name another has by now does not touch that one", async () => {
    const world = await evicting(async (call) => {
      await remove(call);
      const spec = { nodeName: "elsewhere", containers: [{ name: "main", image: "app" }] };
      await call.client.create(builtInTypes.Pod, { apiVersion: "v1", kind: "Pod", metadata: web, spec } as KubeObject);
    });
    await world.deleteNode();
    await world.pass(20);
    expect(codes(world)).toEqual(["409"]);
    expect((await world.podNamed("web"))?.metadata.deletionTimestamp).toBeUndefined();
    expect(world.failures).toEqual([]);
  });

  it("03:T-44 that fails otherwise is tried again, and somebody hears of it", async () => {
    const world = await evicting(() => Promise.reject(new KubeError("unavailable", "no connection")));
    await world.deleteNode();
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["web"]);
    expect(codes(world)).toEqual(["200"]); // an answer that never came has no code
    expect(world.failures).toMatchObject([{ kind: "reconcile-failed", controller: "eviction-queue" }]);
  });

  it("03:T-40 of a pod that is added once more meanwhile happens once", async () => {
    const world = await evicting(async (_, { clock }) => clock.sleep(5_000)); // five more looks at the node
    await world.deleteNode();
    await world.pass(20);
    expect(codes(world)).toEqual(["200"]);
    expect(world.countOf("pods_drained_total")).toBe(1);
  });

  it("03:T-45 says why, where the claim does", async () => {
    const world = await evicting();
    const { status } = await world.requireClaim("a");
    const base = { lastTransitionTime: "2026-01-01T00:00:00Z", message: "", observedGeneration: 1 };
    const found = { ...base, type: "DisruptionReason", status: "True", reason: "Drifted" };
    await world.patchClaim("a", { status: { conditions: [...(status?.conditions ?? []), found] } }, "status");
    await world.deleteNode();
    await world.pass(2);
    expect(world.countOf("pods_drained_total", { reason: "Drifted" })).toBe(1);
    expect(await world.events("web")).toEqual([{ ...evictedEvent, message: "Evicted pod: Drifted" }]);
  });

  it("03:T-45 has no reason where there is no claim", async () => {
    const world = await nodeWorld();
    await world.nodeWithoutClaim("kwok://unknown");
    await world.run(["web"], { node: "stray" });
    await world.deleteNode("stray");
    await world.pass(2);
    expect(world.countOf("pods_drained_total", { reason: "" })).toBe(1);
  });
});

describe("an eviction that budgets prevent", () => {
  it("03:T-44 is told on the node, tried again with growing waits, and no error", async () => {
    const world = await evicting();
    await world.budget(0);
    await world.deleteNode();
    await world.pass(1.5);
    const soon = codes(world).length;
    expect(soon).toBeGreaterThanOrEqual(4); // after half a second, and then after about 0.1, 0.2, 0.4 seconds
    expect(soon).toBeLessThanOrEqual(6);
    await world.pass(59);
    const later = codes(world).length;
    expect(later - soon).toBeGreaterThanOrEqual(9);
    expect(later - soon).toBeLessThanOrEqual(20);
    await world.pass(600);
    expect(codes(world).length - later).toBeGreaterThanOrEqual(60); // at least every ten seconds
    expect(codes(world).length - later).toBeLessThanOrEqual(120);
    expect(new Set(codes(world))).toEqual(new Set(["429"]));
    expect(await world.events("node-a")).toContainEqual({
      type: "Warning",
      reason: "FailedDraining",
      message:
        "Failed to drain node, pod default/web cannot be evicted: a PodDisruptionBudget prevents pod evictions " +
        "(The disruption budget web needs 3 healthy pods and has 3 currently)",
    });
    expect(world.failures).toEqual([]);
    await world.client.delete(builtInTypes.PodDisruptionBudget, web);
    await world.pass(11);
    expect(await world.terminatingPods()).toEqual(["web"]);
  });

  it("03:T-44 two budgets over one pod are one too many, whatever they allow", async () => {
    const world = await evicting();
    await world.budget(1);
    await world.budget(1, "web", "second");
    await world.deleteNode();
    await world.pass(30);
    expect(new Set(codes(world))).toEqual(new Set(["500"]));
    expect((await world.events("node-a")).map(({ message }) => message)).toContain(
      "Failed to drain node, pod default/web cannot be evicted: more than one PodDisruptionBudget selects it",
    );
    expect(await world.terminatingPods()).toEqual([]);
    expect(world.failures).toEqual([]);
  });

  it("03 §8.5 asks again only so often a second, however many pods there are", async () => {
    const world = await evicting();
    await world.run(Array.from({ length: 1_500 }, (_, n) => `web-${n}`));
    await world.budget(0);
    await world.deleteNode();
    await world.pass(1);
    await world.pass(60);
    const before = codes(world).length;
    await world.pass(20);
    expect(codes(world).length - before).toBeLessThanOrEqual(2_000); // a hundred a second
    expect(codes(world).length - before).toBeGreaterThan(1_500);
    const events = (await world.events("node-a")).filter(({ message }) => message.includes("prevents pod evictions"));
    expect(events).toHaveLength(1);
  });
});

describe("a pod that must not be disrupted", () => {
  it("03:T-42 for a while goes when that is over", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], { metadata: protectedBy("90s") });
    const startMs = world.clock.now();
    await world.deleteNode();
    await world.pass(89.9 - (world.clock.now() - startMs) / 1_000);
    expect(await world.terminatingPods()).toEqual([]);
    await world.pass(0.2);
    expect(await world.terminatingPods()).toEqual(["web"]);
    const told = (await world.events("web")).map(({ reason, message }) => `${reason}: ${message}`).sort();
    expect(told).toEqual([
      "DoNotDisruptGracePeriodElapsed: do-not-disrupt has expired",
      "DoNotDisruptUntil: Protected by do-not-disrupt until 2026-01-01T00:01:32Z",
      "Evicted: Evicted pod: Forceful Termination",
    ]);
    expect(codes(world)).toEqual(["200"]);
    expect(world.failures).toEqual([]);
  });

  it("03 §0.4 in words nobody understands is told so, and goes", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], { metadata: protectedBy("false") });
    await world.deleteNode();
    await world.pass(1);
    expect(await world.terminatingPods()).toEqual(["web"]);
    expect(await world.events("web")).toContainEqual({
      type: "Warning",
      reason: "InvalidDoNotDisruptAnnotation",
      message: "Ignoring do-not-disrupt: false is neither true nor a positive duration",
    });
  });
});
