import { describe, expect, it } from "vitest";
import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { nodeClaimGarbageCollectionController } from "../../../src/controllers/node-claim/garbage-collection.ts";
import { lifecycleController } from "../../../src/controllers/node-claim/lifecycle.ts";
import { builtInTypes } from "../../../src/kube/resources.ts";
import { type NodeClaimWorld, nodeClaimWorld, nodeWithId } from "./node-claim-world.ts";

const controllers = (dependencies: ControllerDependencies) => [
  lifecycleController(dependencies),
  nodeClaimGarbageCollectionController(dependencies),
];
const round = 121;

async function running(
  name: string,
  world: NodeClaimWorld,
  { isReady = true }: { isReady?: boolean } = {},
): Promise<string> {
  const id = await world.launched(name);
  await world.create(nodeWithId(id, { name: `node-${name}`, isReady }));
  await world.pass(1);
  return id;
}

const isLeaving = async (world: NodeClaimWorld, name: string) => {
  const claim = await world.claim(name);
  return claim === undefined || claim.metadata.deletionTimestamp !== undefined;
};

describe("garbage collection", () => {
  it("03:G-1 03:G-2 deletes a claim whose machine is gone and whose Node is not ready", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await running("a", world, { isReady: false });
    world.cloud.vanish(id);
    await world.pass(round);
    expect(await isLeaving(world, "a")).toBe(true);
    expect(world.counted).toContainEqual({
      name: "nodeclaims_disrupted_total",
      labels: expect.objectContaining({ reason: "garbage_collected", nodepool: "default" }),
      value: 1,
    });
    expect(world.logged("garbage collecting nodeclaim with no cloudprovider representation")).toMatchObject([
      { level: "debug", "provider-id": id, Node: { name: "node-a" } },
    ]);
  });

  it("03:G-2 leaves a claim whose Node still reports", async () => {
    const world = await nodeClaimWorld({ controllers });
    world.cloud.vanish(await running("a", world));
    await world.pass(3 * round);
    expect(await isLeaving(world, "a")).toBe(false);
  });

  it("03:G-1 deletes many", async () => {
    const world = await nodeClaimWorld({ controllers });
    const names = Array.from({ length: 30 }, (_, at) => `claim-${at}`);
    for (const name of names) world.cloud.vanish(await running(name, world, { isReady: false }));
    await world.pass(round);
    for (const name of names) expect(await isLeaving(world, name)).toBe(true);
  });

  it("03:G-2 leaves claims that are not registered to liveness", async () => {
    const world = await nodeClaimWorld({ controllers });
    world.cloud.vanish(await world.launched("a"));
    await world.pass(3 * round);
    expect(await isLeaving(world, "a")).toBe(false);
  });

  it("03:G-2 leaves a claim whose Node is gone while its machine is there", async () => {
    const world = await nodeClaimWorld({ controllers });
    await running("a", world, { isReady: false });
    await world.patchNode("node-a", { metadata: { finalizers: null } });
    await world.client.delete(builtInTypes.Node, { name: "node-a" });
    await world.pass(3 * round);
    expect(await isLeaving(world, "a")).toBe(false);
  });

  it("03:G-2 deletes nothing on an answer that failed, and asks again", async () => {
    const world = await nodeClaimWorld({ controllers });
    const id = await running("a", world, { isReady: false });
    world.cloud.vanish(id);
    world.cloud.failNext("list", { kind: "failed" }, 12);
    await world.pass(120);
    expect(await isLeaving(world, "a")).toBe(false);
    expect(world.failures[0]).toMatchObject({ controller: "nodeclaim.garbagecollection" });
    await world.pass(60);
    expect(await isLeaving(world, "a")).toBe(true);
  });

  it("03:G-1 a machine that is on its way out does not keep its claim", async () => {
    const world = await nodeClaimWorld({
      controllers,
      wrapProvider: (provider) => ({
        ...provider,
        list: async () => (await provider.list()).map((one) => ({ ...one, isTerminating: true })),
      }),
    });
    await running("a", world, { isReady: false });
    await world.pass(round);
    expect(await isLeaving(world, "a")).toBe(true);
  });
});
