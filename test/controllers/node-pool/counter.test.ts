import { describe, expect, it } from "vitest";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import { poolCounterController } from "../../../src/controllers/node-pool/counter.ts";
import { builtInTypes, karpenterTypes } from "../../../src/kube/resources.ts";
import { type ControllerWorld, controllerWorld } from "../controller-world.ts";
import { claim, foreignClass, kwokClass, machine, pool } from "../pool-objects.ts";

const zeros = { cpu: "0", memory: "0", pods: "0", "ephemeral-storage": "0", nodes: "0" };

async function counting(...pools: readonly object[]): Promise<ControllerWorld> {
  const world = await controllerWorld({ controllers: (dependencies) => [poolCounterController(dependencies)] });
  await world.create(kwokClass(), ...pools);
  return world;
}

async function statusOf(world: ControllerWorld, name = "default"): Promise<NodePool["status"]> {
  return (await world.get<NodePool>(karpenterTypes.NodePool, name))?.status;
}

describe("nodepool.counter", () => {
  it("03:P-1 leaves pools of a foreign node class alone", async () => {
    const world = await counting(pool("foreign", { template: { nodeClassRef: foreignClass } }));
    await world.pass(10);
    expect((await statusOf(world, "foreign"))?.resources).toBeUndefined();
    await world.stop();
  });

  it("03:P-1 shows zeros where there are no nodes", async () => {
    const world = await counting(pool());
    expect(await statusOf(world)).toMatchObject({ resources: zeros, nodes: 0 });
    await world.stop();
  });

  it("03:P-1 counts the claim until its Node is initialized, then the Node", async () => {
    const world = await counting(pool());
    await machine(world, "a", { cpu: "8", node: { cpu: "4" } });
    await world.pass(5);
    // What the Node says already counts; what it does not is the claim's.
    expect((await statusOf(world))?.resources).toMatchObject({ cpu: "4", nodes: "1" });
    await machine(world, "b", { cpu: "8" });
    await world.pass(5);
    expect(await statusOf(world)).toMatchObject({ resources: { cpu: "12", memory: "32Gi", nodes: "2" }, nodes: 2 });
    await machine(world, "c", { cpu: "8", node: { cpu: "2", isInitialized: true } });
    await world.pass(5);
    expect(await statusOf(world)).toMatchObject({ resources: { cpu: "14", nodes: "3" }, nodes: 3 });
    await world.stop();
  });

  it("03:P-1 follows nodes up and down, every five seconds", async () => {
    const world = await counting(pool());
    const made = await machine(world, "a", { node: { isInitialized: true } });
    await machine(world, "b", { node: { isInitialized: true } });
    await world.pass(5);
    expect(await statusOf(world)).toMatchObject({ resources: { cpu: "8" }, nodes: 2 });

    await world.client.delete(karpenterTypes.NodeClaim, { name: made.metadata.name ?? "" });
    await world.client.delete(builtInTypes.Node, { name: "a" });
    await world.pass(2);
    expect((await statusOf(world))?.nodes).toBe(2);
    await world.pass(3);
    expect(await statusOf(world)).toMatchObject({ resources: { cpu: "4" }, nodes: 1 });

    await world.client.delete(karpenterTypes.NodeClaim, { name: "b" });
    await world.client.delete(builtInTypes.Node, { name: "b" });
    await world.pass(5);
    expect(await statusOf(world)).toMatchObject({ resources: zeros, nodes: 0 });
    await world.stop();
  });

  it("03:P-1 does not count what is marked for deletion", async () => {
    const world = await counting(pool());
    await machine(world, "a", { isHeld: true, node: { isInitialized: true } });
    await machine(world, "b", { node: { isInitialized: true } });
    world.cluster.markForDeletion("kwok://a");
    await world.pass(5);
    expect(await statusOf(world)).toMatchObject({ resources: { cpu: "4" }, nodes: 1 });
    await world.stop();
  });

  it("03:P-1 takes away resources no node has any more", async () => {
    const world = await counting(pool());
    const made = await world.create<NodePool>(claim("gpu"));
    await world.status(made, { providerID: "kwok://gpu", capacity: { cpu: "4", "nvidia.com/gpu": "1" } });
    await world.pass(5);
    expect((await statusOf(world))?.resources).toMatchObject({ "nvidia.com/gpu": "1" });
    await world.client.delete(karpenterTypes.NodeClaim, { name: "gpu" });
    await world.pass(5);
    expect((await statusOf(world))?.resources).toEqual(zeros);
    await world.stop();
  });

  it("03:P-1 keeps several pools apart, static ones too", async () => {
    const world = await counting(pool("one"), pool("two"), pool("fixed", { replicas: 2 }));
    await machine(world, "a", { pool: "one", node: { isInitialized: true } });
    await machine(world, "b", { pool: "fixed", node: { isInitialized: true } });
    await machine(world, "c", { pool: "fixed", node: { isInitialized: true } });
    await world.pass(5);
    expect((await statusOf(world, "one"))?.nodes).toBe(1);
    expect((await statusOf(world, "two"))?.nodes).toBe(0);
    expect(await statusOf(world, "fixed")).toMatchObject({ resources: { cpu: "8" }, nodes: 2 });
    await world.stop();
  });

  it("03:P-1 waits a second at a time while the state is not synced", async () => {
    const world = await counting();
    const unlaunched = await world.create<NodePool>(claim("a"));
    await world.create(pool());
    await world.pass(3);
    expect((await statusOf(world))?.resources).toBeUndefined();
    await world.status(unlaunched, { providerID: "kwok://a", capacity: { cpu: "4" } });
    await world.pass(1);
    expect((await statusOf(world))?.nodes).toBe(1);
    await world.stop();
  });

  it("03:P-1 writes only when the count changed", async () => {
    const world = await counting(pool());
    await world.pass(5);
    const before = (await world.get(karpenterTypes.NodePool, "default"))?.metadata.resourceVersion;
    await world.pass(60);
    expect((await world.get(karpenterTypes.NodePool, "default"))?.metadata.resourceVersion).toBe(before);
    await world.stop();
  });
});
