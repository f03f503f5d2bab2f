import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import { annotations } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { staticDeprovisioningController } from "../../../src/controllers/static/deprovisioning.ts";
import type { Controller } from "../../../src/kube/controller.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { type ControllerWorld, controllerWorld } from "../controller-world.ts";
import { claim, daemonSet, foreignClass, kwokClass, type MachineDraft, machine, podOn, pool } from "../pool-objects.ts";
import { beforeCreateAndDelete, restart } from "./static-world.ts";

const joined: MachineDraft = { node: { isInitialized: true } };

async function shrinking(
  controllers?: (dependencies: ControllerDependencies) => readonly Controller[],
): Promise<ControllerWorld> {
  const world = await controllerWorld({
    controllers: controllers ?? ((dependencies) => [staticDeprovisioningController(dependencies)]),
  });
  await world.create(kwokClass());
  return world;
}

async function machines(world: ControllerWorld, ...names: readonly string[]): Promise<void> {
  for (const name of names) await machine(world, name, joined);
}

/** Names of claims that stay. */
async function left(world: ControllerWorld): Promise<readonly string[]> {
  const all = await world.list<NodeClaim>(karpenterTypes.NodeClaim);
  return all.filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name ?? "");
}

async function setReplicas(world: ControllerWorld, replicas: number): Promise<void> {
  await world.client.patch(
    karpenterTypes.NodePool,
    { name: "default" },
    { kind: "merge", body: { spec: { replicas } } },
  );
  await world.clock.advance(0);
}

describe("static.deprovisioning", () => {
  it("03:SP-4 deletes what is too much, by name where all are equal, and says so", async () => {
    const world = await shrinking();
    await machines(world, "a", "b", "c", "d");
    await world.create(pool("default", { replicas: 2 }));
    expect(await left(world)).toEqual(["c", "d"]);
    expect(world.lines.map(({ message, current, desired }) => [message, current, desired])).toContainEqual([
      "deprovisioning nodeclaims to satisfy replica count",
      4,
      2,
    ]);
    await world.stop();
  });

  it("03:SP-4 to zero, and from fewer replicas to fewer", async () => {
    const world = await shrinking();
    await machines(world, "a", "b", "c");
    await world.create(pool("default", { replicas: 3 }));
    expect(await left(world)).toEqual(["a", "b", "c"]);
    await setReplicas(world, 2);
    expect(await left(world)).toEqual(["b", "c"]);
    await setReplicas(world, 0);
    expect(await left(world)).toEqual([]);
    await world.stop();
  });

  it.each([2, 3])("03:SP-4 leaves two nodes alone where %i are wanted", async (replicas) => {
    const world = await shrinking();
    await machines(world, "a", "b");
    await world.create(pool("default", { replicas }));
    await world.pass(120);
    expect(await left(world)).toEqual(["a", "b"]);
    await world.stop();
  });

  it("03:SP-4 a pool without nodes is no trouble", async () => {
    const world = await shrinking();
    await world.create(pool("default", { replicas: 0 }));
    await world.pass(120);
    expect(world.failures).toEqual([]);
    await world.stop();
  });

  it("03:SP-4 pools that are dynamic, foreign or being deleted are left alone", async () => {
    const world = await shrinking();
    const held = { finalizers: ["example.com/hold"] };
    await world.create(
      pool("dynamic"),
      pool("foreign", { replicas: 0, template: { nodeClassRef: foreignClass } }),
      pool("going", { replicas: 1, metadata: held }),
    );
    await world.client.delete(karpenterTypes.NodePool, { name: "going" });
    await machine(world, "a", { ...joined, pool: "dynamic" });
    await machine(world, "b", { ...joined, pool: "foreign" });
    await machine(world, "c", { ...joined, pool: "going" });
    await machine(world, "d", { ...joined, pool: "going" });
    await world.pass(120);
    expect(await left(world)).toEqual(["a", "b", "c", "d"]);
    await world.stop();
  });

  it("03:SP-4 nodes on their way out, or about to be replaced, are not among the surplus nor the victims", async () => {
    const world = await shrinking();
    await machine(world, "a", { ...joined, isHeld: true });
    await machines(world, "b", "c");
    await world.client.delete(karpenterTypes.NodeClaim, { name: "a" });
    world.cluster.nodePoolState.markPendingDisruption("default", "b");
    await world.create(pool("default", { replicas: 1 }));
    await world.pass(61);
    expect(await left(world)).toEqual(["b", "c"]);
    await setReplicas(world, 0);
    expect(await left(world)).toEqual(["b"]);
    await world.stop();
  });

  it("03:SP-4 is woken by a claim too many", async () => {
    const world = await shrinking();
    await machines(world, "a");
    await world.create(pool("default", { replicas: 1 }));
    await world.create(claim("z"));
    expect(await left(world)).toEqual(["a"]);
    await world.stop();
  });

  it("03:SP-4 what is deleted counts as deleting at once", async () => {
    const world = await shrinking();
    await machine(world, "a", { ...joined, isHeld: true });
    await machine(world, "b", joined);
    await world.create(pool("default", { replicas: 1 }));
    const { nodePoolState } = world.cluster;
    expect(nodePoolState.counts("default")).toMatchObject({ active: 1, deleting: 1 });
    // A claim that nothing holds is gone, and not counted for ever.
    await setReplicas(world, 0);
    expect(nodePoolState.counts("default")).toMatchObject({ active: 0, deleting: 1 });
    await world.stop();
  });

  it("03:SP-4 a deletion that fails is tried again, and counts as not done", async () => {
    let failures = 1;
    const seen: number[] = [];
    const world = await shrinking((dependencies) => [
      beforeCreateAndDelete(staticDeprovisioningController(dependencies), () => {
        seen.push(dependencies.cluster.nodePoolState.counts("default").active);
        if (failures-- > 0) throw new Error("the server is busy");
      }),
    ]);
    await machines(world, "a", "b");
    await world.create(pool("default", { replicas: 0 }));
    expect(await left(world)).toEqual(["a"]);
    expect(world.cluster.nodePoolState.counts("default")).toMatchObject({ active: 1, deleting: 0 });
    expect(world.failures).toMatchObject([
      { kind: "reconcile-failed", controller: "static.deprovisioning", key: "default" },
    ]);
    await world.pass(1);
    expect(await left(world)).toEqual([]);
    expect(seen.length).toBe(3);
    await world.stop();
  });

  it("03:SP-4 looks again every minute", async () => {
    const world = await shrinking();
    await machines(world, "a", "b");
    world.cluster.nodePoolState.markPendingDisruption("default", "a");
    await world.create(pool("default", { replicas: 1 }));
    world.cluster.nodePoolState.markActive("default", "a"); // nobody tells
    await world.pass(30);
    expect(await left(world)).toEqual(["a", "b"]);
    await world.pass(31);
    expect(await left(world)).toEqual(["b"]);
    await world.stop();
  });

  it("03:SP-4 after a restart a claim that never launches does not keep the others", async () => {
    const world = await shrinking(() => []);
    await world.create(claim("stuck"), pool("default", { replicas: 1 }));
    await machines(world, "a", "b");
    const stop = restart(world, (dependencies) => [staticDeprovisioningController(dependencies)]);
    await world.pass(2);
    expect(await left(world)).toEqual(["b"]);
    await stop();
    await world.stop();
  });
});

describe("whom static.deprovisioning takes first", () => {
  const protectedPod = { annotations: { [annotations.doNotDisrupt]: "true" } };
  const costly = { annotations: { [annotations.podDeletionCost]: "2147483647" } };

  it("03:SP-4 claims without a machine", async () => {
    const world = await shrinking();
    await machines(world, "a");
    await world.create(claim("y"), claim("z"), pool("default", { replicas: 2 }));
    expect(await left(world)).toEqual(["a", "z"]);
    await setReplicas(world, 1);
    expect(await left(world)).toEqual(["a"]);
    await world.stop();
  });

  it("03:SP-4 then empty nodes, daemons or not; others when those do not suffice", async () => {
    const world = await shrinking();
    await machines(world, "a", "b", "c", "d");
    await world.create(podOn("a", "web"), podOn("c", "agent", { owner: daemonSet }));
    await world.create(podOn("b", "guarded", { owner: daemonSet, ...protectedPod }));
    await world.create(pool("default", { replicas: 2 }));
    expect(await left(world)).toEqual(["a", "b"]);
    await setReplicas(world, 1);
    expect(await left(world)).toEqual(["b"]);
    await world.stop();
  });

  it.each([
    [6, ["cheap-1", "cheap-2", "costly-1", "costly-2", "guarded-1", "guarded-2"]],
    [4, ["costly-1", "costly-2", "guarded-1", "guarded-2"]],
    [2, ["guarded-1", "guarded-2"]],
    [0, []],
  ])("03:SP-4 in four steps: down to %i", async (replicas, names) => {
    const world = await shrinking();
    for (const number of [1, 2]) {
      await machines(world, `daemon-${number}`, `cheap-${number}`, `costly-${number}`, `guarded-${number}`);
      await world.create(
        podOn(`daemon-${number}`, `d-${number}`, { owner: daemonSet }),
        podOn(`cheap-${number}`, `w-${number}`),
        podOn(`costly-${number}`, `x-${number}`, costly),
        podOn(`guarded-${number}`, `y-${number}`, protectedPod),
      );
    }
    await world.create(pool("default", { replicas }));
    expect(await left(world)).toEqual(names);
    await world.stop();
  });

  it("02:Z-3 a node that ends soon anyway costs less than one that has its life before it", async () => {
    const world = await shrinking();
    await machine(world, "a", { ...joined, expireAfter: "1000h" });
    await machine(world, "b", { ...joined, expireAfter: "10h" });
    await world.create(podOn("a", "w-1"), podOn("b", "w-2"));
    await world.pass(9 * 3_600);
    await world.create(pool("default", { replicas: 1 }));
    expect(await left(world)).toEqual(["a"]);
    await world.stop();
  });

  it("03:D-5 a deletion cost nobody can read is logged and counts for nothing", async () => {
    const world = await shrinking();
    await machines(world, "a", "b");
    await world.create(podOn("a", "w-1", { annotations: { [annotations.podDeletionCost]: "dear" } }));
    await world.create(podOn("b", "w-2", { annotations: { [annotations.podDeletionCost]: "-1000000000" } }));
    await world.create(pool("default", { replicas: 1 }));
    expect(await left(world)).toEqual(["a"]);
    expect(world.lines.filter(({ level }) => level === "error")).toMatchObject([
      { message: "failed parsing pod deletion cost", Pod: { name: "w-1" }, value: "dear" },
    ]);
    await world.stop();
  });

  it("03:SP-4 protection that has run out does not hold a node", async () => {
    const world = await shrinking();
    await machines(world, "a", "b");
    const brief = { annotations: { [annotations.doNotDisrupt]: "1h" } };
    const [held, over] = [podOn("a", "w-1", protectedPod), podOn("b", "w-2", brief)];
    await world.create(held, over);
    await world.status(over as KubeObject, { phase: "Running", startTime: "2026-01-01T00:00:00Z" });
    await world.pass(2 * 3_600);
    await world.create(pool("default", { replicas: 1 }));
    expect(await left(world)).toEqual(["a"]);
    await world.stop();
  });
});
