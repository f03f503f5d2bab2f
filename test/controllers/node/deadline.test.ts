import { describe, expect, it } from "vitest";
import { annotations } from "../../../src/api/labels.ts";
import { KubeError } from "../../../src/kube/kube-error.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import { nodeWorld, ownedBy, type PodChanges, protectedBy } from "./node-world.ts";

const withGrace = (seconds: number, changes: PodChanges = {}): PodChanges => ({
  ...changes,
  spec: { ...changes.spec, terminationGracePeriodSeconds: seconds },
});

const held = { labels: { app: "held" } };

/** A node that ends, has so long for it, and these pods, of which a budget lets those of `app: held` never go. */
async function ending(terminationGracePeriod: string, pods: Readonly<Record<string, PodChanges>>) {
  const world = await nodeWorld();
  await world.registeredNode("a", { spec: { terminationGracePeriod } });
  for (const [name, changes] of Object.entries(pods)) await world.run([name], changes);
  await world.budget(0, "held");
  const endsAt = world.clock.now();
  await world.deleteNode();
  return { ...world, endsAt, secondsIn: () => (world.clock.now() - endsAt) / 1_000 };
}

/** How many seconds into it a pod was asked to leave, and with how much grace. */
async function goneAfter(world: Awaited<ReturnType<typeof ending>>, name: string, seconds: number) {
  for (let tenth = 0; tenth <= seconds * 10; tenth++) {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = (await world.podNamed(name))?.metadata ?? {};
    if (deletionTimestamp !== undefined) return { at: world.secondsIn(), grace: deletionGracePeriodSeconds };
    await world.pass(0.1);
  }
  return undefined;
}

describe("the deadline of a node", () => {
  it("03:T-6 is announced on it", async () => {
    const world = await ending("5m", { web: withGrace(10, { metadata: protectedBy("true") }) });
    await world.pass(3);
    const deadline = (await world.requireClaim("a")).metadata.annotations?.[annotations.terminationTimestamp];
    expect(Date.parse(deadline ?? "")).toBe(world.endsAt + 300_000);
    expect(await world.events("node-a")).toContainEqual({
      type: "Warning",
      reason: "TerminationGracePeriodExpiring",
      message: `All pods will be deleted by ${deadline}`,
    });
  });

  it("03:T-6 one that is no time is an error, and nothing is done", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"]);
    await world.patchClaim("a", { metadata: { annotations: { [annotations.terminationTimestamp]: "soon" } } });
    await world.deleteNode();
    await world.pass(20);
    expect(await world.terminatingPods()).toEqual([]);
    expect(world.failures).not.toEqual([]);
    expect(String((world.failures[0] as { error: unknown }).error)).toContain("soon is not a timestamp");
  });

  it("03:T-5 03:T-6 a machine that is gone is gone, whatever its deadline says", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.patchClaim("a", { metadata: { annotations: { [annotations.terminationTimestamp]: "soon" } } });
    await world.setReady("False");
    world.loseInstance();
    await world.deleteNode();
    await world.pass(1);
    expect(await world.node("node-a")).toBeUndefined();
  });
});

describe("a pod whose node has a deadline", () => {
  it("03:T-50 03 §2.6 a protected one goes in the second its grace begins to matter", async () => {
    const world = await ending("2m", { web: withGrace(30, { metadata: protectedBy("true") }) });
    const gone = await goneAfter(world, "web", 120);
    expect(gone?.at).toBeGreaterThan(90);
    expect(gone?.at).toBeLessThanOrEqual(90.2);
    expect(gone?.grace).toBe(29);
    expect(await world.events("web")).toContainEqual({
      type: "Normal",
      reason: "Disrupted",
      message:
        "Deleted pod with a grace period of 29s to meet its node's termination deadline, overriding PodDisruptionBudgets and do-not-disrupt",
    });
    expect(world.logged("deleting pod")).toMatchObject([
      { level: "debug", Pod: { name: "web", namespace: "default" }, gracePeriodSeconds: 29 },
    ]);
    expect(world.failures).toEqual([]);
  });

  it("03:T-51 force delete bypasses budgets", async () => {
    const world = await ending("2m", { web: withGrace(30, { metadata: held }) });
    await world.pass(89);
    expect(world.countOf("pods_eviction_requests_total", { code: "429" })).toBeGreaterThan(5);
    expect(await world.terminatingPods()).toEqual([]);
    expect((await goneAfter(world, "web", 10))?.at).toBeLessThanOrEqual(90.2);
    expect(world.countOf("pods_eviction_requests_total", { code: "200" })).toBe(0);
    expect(world.countOf("pods_drained_total", { reason: "Forceful Termination" })).toBe(1);
  });

  it("03:T-50 one with more grace than the node has goes at the start, with what there is", async () => {
    const world = await ending("2m", { web: withGrace(600, { metadata: protectedBy("true") }) });
    const gone = await goneAfter(world, "web", 5);
    expect(gone?.at).toBeLessThanOrEqual(1.2);
    expect(gone?.grace).toBe(119);
  });

  it("03:T-50 03:T-52 one that has time is asked by the rules, with all its grace", async () => {
    const world = await ending("2m", { web: withGrace(60) });
    expect(await goneAfter(world, "web", 5)).toMatchObject({ grace: 60 });
    expect(world.countOf("pods_eviction_requests_total", { code: "200" })).toBe(1);
    expect(world.logged("deleting pod")).toEqual([]);
  });

  it("03:T-4 those whose time is up do not wait for earlier tiers", async () => {
    const daemon = withGrace(60, { metadata: { ownerReferences: ownedBy.daemonSet } });
    const world = await ending("2m", { precious: withGrace(1, { metadata: protectedBy("true") }), daemon });
    await world.pass(59);
    expect(await world.terminatingPods()).toEqual([]);
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["daemon"]);
  });

  it("03:T-12 those that are forced hold their own tier", async () => {
    const daemon = withGrace(1, { metadata: { ownerReferences: ownedBy.daemonSet } });
    const world = await ending("2m", { slow: withGrace(600), daemon });
    await world.pass(30);
    expect(await world.terminatingPods()).toEqual(["slow"]);
  });

  it("03:T-50 one that is going, but would outlive the node, is asked again with less grace", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], withGrace(600));
    await world.deleteNode();
    await world.pass(10);
    expect((await world.podNamed("web"))?.metadata.deletionGracePeriodSeconds).toBe(600);
    await world.setDeadline(40);
    await world.pass(2);
    const { deletionTimestamp, deletionGracePeriodSeconds } = (await world.podNamed("web"))?.metadata ?? {};
    expect(deletionGracePeriodSeconds).toBeGreaterThanOrEqual(37);
    expect(deletionGracePeriodSeconds).toBeLessThanOrEqual(40);
    expect(Date.parse(deletionTimestamp ?? "")).toBeLessThanOrEqual(world.clock.now() + 40_000);
    await world.pass(20);
    expect(world.countOf("pods_drained_total")).toBe(2); // asked, then asked again, and left in peace
  });

  it("03:T-40 03:T-42 one that was blocked is forced as soon as a deadline says so", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], withGrace(30));
    await world.budget(0);
    await world.deleteNode();
    await world.pass(60);
    await world.setDeadline(20);
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["web"]);
  });

  it("03:T-51 one whose deletion fails is asked again, and is counted when it is asked", async () => {
    let failures = 2;
    const world = await nodeWorld({
      wrapClient: beforeWrites(({ verb, type }) => {
        if (verb === "delete" && type === builtInTypes.Pod && failures-- > 0)
          throw new KubeError("unavailable", "not now");
      }),
    });
    await world.registeredNode();
    await world.run(["web"], withGrace(30, { metadata: protectedBy("true") }));
    await world.deleteNode();
    await world.setDeadline(1);
    await world.pass(0);
    expect([await world.terminatingPods(), world.countOf("pods_drained_total")]).toEqual([[], 0]);
    await world.pass(30);
    expect(await world.terminatingPods()).toEqual(["web"]);
    expect(world.countOf("pods_drained_total")).toBe(1);
    expect(world.failures).toMatchObject([{ kind: "reconcile-failed" }, { kind: "reconcile-failed" }]);
  });

  it("03:T-51 never gets less than a second, and is not asked for ever", async () => {
    const world = await nodeWorld();
    await world.registeredNode();
    await world.run(["web"], withGrace(30, { metadata: protectedBy("true") }));
    await world.deleteNode();
    await world.pass(5);
    await world.setDeadline(-60);
    await world.pass(30);
    expect((await world.podNamed("web"))?.metadata.deletionGracePeriodSeconds).toBe(1);
    expect(world.countOf("pods_drained_total")).toBe(1);
    expect(world.logged("deleting pod")).toHaveLength(1);
  });

  it("03 §2.6 no grace at all means at once", async () => {
    const world = await ending("0s", {
      one: withGrace(30, { metadata: protectedBy("true") }),
      two: withGrace(600, { metadata: held }),
    });
    await world.pass(2);
    expect(await world.terminatingPods()).toEqual(["one", "two"]);
    await world.removePods("one", "two");
    await world.pass(20);
    expect(await world.node("node-a")).toBeUndefined();
    expect(world.secondsIn()).toBeLessThan(30);
  });
});
