import { describe, expect, it } from "vitest";
import type { ConditionStatus } from "../../../src/api/conditions/condition.ts";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { poolRegistrationHealthController } from "../../../src/controllers/node-pool/registration-health.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { type ControllerWorld, controllerWorld } from "../controller-world.ts";
import { foreignClass, kwokClass, pool } from "../pool-objects.ts";

function watching(): Promise<ControllerWorld> {
  return controllerWorld({ controllers: (dependencies) => [poolRegistrationHealthController(dependencies)] });
}

async function stored(world: ControllerWorld, name = "default"): Promise<NodePool> {
  return (await world.get<NodePool>(karpenterTypes.NodePool, name)) as NodePool;
}

/** What registration or its failure would have left on the pool. */
async function condition(world: ControllerWorld, status: ConditionStatus): Promise<NodePool> {
  const found = await stored(world);
  const generation = found.metadata.generation ?? 0;
  const told = {
    type: "NodeRegistrationHealthy",
    status,
    reason: "Told",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    observedGeneration: generation,
  };
  await world.status(found as KubeObject, { conditions: [told], nodeClassObservedGeneration: 1 });
  return stored(world);
}

describe("nodepool.registrationhealth", () => {
  it("03:P-23 leaves pools of a foreign node class alone, and those whose class is missing", async () => {
    const world = await watching();
    await world.create(pool("foreign", { template: { nodeClassRef: foreignClass } }), pool());
    expect((await stored(world, "foreign")).status?.conditions).toBeUndefined();
    expect((await stored(world)).status?.conditions).toBeUndefined();
    await world.stop();
  });

  it("03:P-20 nothing is kept of a pool that is gone", async () => {
    const world = await watching();
    await world.create(kwokClass(), pool(), pool("other"));
    const [gone, stays] = [await stored(world), await stored(world, "other")].map(({ metadata }) => metadata.uid ?? "");
    const { registrationHealth } = world.dependencies;
    for (const uid of [gone, stays]) registrationHealth.record(uid ?? "", { isRegistered: true });
    await world.client.delete(karpenterTypes.NodePool, { name: "default" });
    await world.pass(1);
    expect([gone, stays].map((uid) => registrationHealth.window(uid ?? "").length)).toEqual([0, 1]);
    await world.stop();
  });

  it("03:P-23 a new pool is unknown, and notes which class it was judged with", async () => {
    const world = await watching();
    await world.create(kwokClass(), pool());
    const found = await stored(world);
    expect(getCondition(found, "NodeRegistrationHealthy")?.status).toBe("Unknown");
    expect(found.status?.nodeClassObservedGeneration).toBe(1);
    await world.stop();
  });

  it.each(["True", "False"] as const)("03:P-23 %s stays while pool and class stay what they are", async (status) => {
    const world = await watching();
    await world.create(kwokClass(), pool());
    await condition(world, status);
    await world.status((await stored(world)) as KubeObject, { nodes: 3 });
    expect(getCondition(await stored(world), "NodeRegistrationHealthy")?.status).toBe(status);
    await world.stop();
  });

  it("03:P-23 another generation of the class makes it unknown and forgets what was seen", async () => {
    const world = await watching();
    await world.create(kwokClass(), pool());
    const { uid = "" } = (await condition(world, "True")).metadata;
    world.dependencies.registrationHealth.record(uid, { isRegistered: false });
    const body = { spec: { nodeRegistrationDelay: "10s" } };
    await world.client.patch(karpenterTypes.KWOKNodeClass, { name: "default" }, { kind: "merge", body });
    await world.clock.advance(0);
    const found = await stored(world);
    expect(getCondition(found, "NodeRegistrationHealthy")?.status).toBe("Unknown");
    expect(found.status?.nodeClassObservedGeneration).toBe(2);
    expect(world.dependencies.registrationHealth.health(uid)).toBe("unknown");
    await world.stop();
  });

  it("03:P-23 another generation of the class is noted where the condition was unknown already", async () => {
    const world = await watching();
    await world.create(kwokClass(), pool());
    const body = { spec: { nodeRegistrationDelay: "10s" } };
    await world.client.patch(karpenterTypes.KWOKNodeClass, { name: "default" }, { kind: "merge", body });
    await world.clock.advance(0);
    expect((await stored(world)).status?.nodeClassObservedGeneration).toBe(2);
    await world.stop();
  });

  it("03:P-23 another generation of the pool makes it unknown and forgets what was seen", async () => {
    const world = await watching();
    await world.create(kwokClass(), pool());
    const { uid = "" } = (await condition(world, "False")).metadata;
    const body = { spec: { template: { metadata: { labels: { team: "a" } } } } };
    await world.client.patch(karpenterTypes.NodePool, { name: "default" }, { kind: "merge", body });
    await world.clock.advance(0);
    const found = await stored(world);
    expect(getCondition(found, "NodeRegistrationHealthy")?.status).toBe("Unknown");
    expect(getCondition(found, "NodeRegistrationHealthy")?.observedGeneration).toBe(found.metadata.generation);
    expect(world.dependencies.registrationHealth.window(uid)).toEqual([]);
    await world.stop();
  });

  it("03:P-23 after a restart the condition stands in for what was seen", async () => {
    const world = await watching();
    await world.create(kwokClass(), pool());
    const { uid = "" } = (await condition(world, "False")).metadata;
    expect(world.dependencies.registrationHealth.window(uid)).toEqual([false, false]);
    expect(world.dependencies.registrationHealth.health(uid)).toBe("unhealthy");
    await world.stop();

    const other = await watching();
    await other.create(kwokClass(), pool());
    const again = await condition(other, "True");
    expect(other.dependencies.registrationHealth.window(again.metadata.uid ?? "")).toEqual([true]);
    await other.stop();
  });
});
