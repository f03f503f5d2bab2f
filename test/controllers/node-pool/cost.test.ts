import { describe, expect, it } from "vitest";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import { labels } from "../../../src/api/labels.ts";
import { CloudError } from "../../../src/cloud/cloud-error.ts";
import { nodePoolControllers } from "../../../src/controllers/node-pool/node-pool-controllers.ts";
import { poolCostController } from "../../../src/controllers/node-pool/pool-cost-controller.ts";
import type { InstanceType } from "../../../src/core/instance-type.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { recordingMetrics } from "../../world/recording-metrics.ts";
import { type ControllerWorld, controllerWorld } from "../controller-world.ts";
import { claim, kwokClass, pool } from "../pool-objects.ts";

/** What is on sale, and how to say that it changed. */
class Shop {
  types: readonly InstanceType[] = [instanceType("small").price(1).build(), instanceType("large").price(4).build()];
  trouble: Error | undefined;
  asked = 0;
  changed: () => void = () => {};

  sell = async (_: NodePool): Promise<readonly InstanceType[]> => {
    this.asked++;
    if (this.trouble) throw this.trouble;
    return this.types;
  };
}

async function pricing(...pools: readonly string[]) {
  const shop = new Shop();
  const metrics = recordingMetrics();
  const world = await controllerWorld({
    controllers: (dependencies) => [poolCostController(dependencies)],
    metrics,
    wrapProvider: (provider) => ({
      ...provider,
      instanceTypes: shop.sell,
      onPricesChanged: (listener) => {
        shop.changed = listener;
        return () => {};
      },
    }),
  });
  await world.create(kwokClass(), ...pools.map((name) => pool(name)));
  await world.pass(2);
  const cost = (name = pools[0]) => metrics.series.get(`nodepools_cost_total{nodepool="${name}"}`);
  const errors = (name = pools[0]) => metrics.series.get(`nodepools_cost_tracker_errors_total{nodepool="${name}"}`);
  return { world, shop, metrics, cost, errors };
}

function bought(name: string, { pool: poolName = "one", type = "small", zone = "a" } = {}) {
  const said = { [labels.instanceType]: type, [labels.zone]: zone, [labels.capacityType]: "on-demand" };
  return claim(name, { pool: poolName, labels: said });
}

async function gone(world: ControllerWorld, name: string): Promise<void> {
  await world.client.delete(karpenterTypes.NodeClaim, { name });
  await world.pass(2);
}

describe("nodepool.cost", () => {
  it("03:S-7 follows claims as they come and go, pool by pool", async () => {
    const { world, cost } = await pricing("one", "two");
    expect([cost("one"), cost("two")]).toEqual([0, 0]);
    await world.create(bought("a"), bought("b"), bought("c", { pool: "two", type: "large" }));
    await world.pass(2);
    expect([cost("one"), cost("two")]).toEqual([2, 4]);
    await world.create(bought("d", { type: "large" }));
    await world.pass(2);
    expect(cost("one")).toBe(6);
    await gone(world, "a");
    expect([cost("one"), cost("two")]).toEqual([5, 4]);
    await gone(world, "b");
    await gone(world, "d");
    expect(cost("one")).toBe(0);
    await world.create(bought("a"));
    await world.pass(2);
    expect(cost("one")).toBe(1);
    await world.stop();
  });

  it("03:S-7 counts a claim from when it says what it became", async () => {
    const { world, cost } = await pricing("one");
    await world.create(claim("a", { pool: "one" }));
    await world.pass(2);
    expect(cost()).toBe(0);
    const body = { metadata: { labels: bought("a").metadata.labels } };
    await world.client.patch(karpenterTypes.NodeClaim, { name: "a" }, { kind: "merge", body });
    await world.pass(2);
    expect(cost()).toBe(1);
    await world.stop();
  });

  it("03:S-7 reads prices again every hour, and not for every claim", async () => {
    const { world, shop, cost } = await pricing("one");
    await world.create(bought("a"), bought("b"));
    await world.pass(2);
    const asked = shop.asked;
    await world.create(bought("c"));
    await world.pass(2);
    expect([cost(), shop.asked]).toEqual([3, asked]);
    shop.types = [instanceType("small").price(2).build()];
    await world.pass(1_800);
    expect(cost()).toBe(3);
    await world.pass(1_800);
    expect([cost(), shop.asked]).toEqual([6, asked + 1]);
    await world.stop();
  });

  it("03:S-7 reads prices again when overlays change them", async () => {
    const { world, shop, cost } = await pricing("one");
    await world.create(bought("a"));
    await world.pass(2);
    shop.types = [instanceType("small").price(0.5).build()];
    shop.changed();
    await world.clock.advance(0);
    expect(cost()).toBe(0.5);
    await world.stop();
  });

  it("03:S-7 an unknown price counts for nothing, is an error once, and is looked up when it is there", async () => {
    const { world, shop, cost, errors } = await pricing("one");
    await world.create(bought("a"), bought("b", { type: "huge" }));
    await world.pass(2);
    expect([cost(), errors()]).toEqual([1, 1]);
    expect(world.lines.filter(({ level }) => level === "error").map(({ NodeClaim }) => NodeClaim)).toEqual([
      { name: "b" },
    ]);
    await world.create(bought("c"));
    await world.pass(2);
    expect([cost(), errors()]).toEqual([2, 1]);
    // A type that is new is not waited for.
    shop.types = [...shop.types, instanceType("new").price(10).build()];
    await world.create(bought("d", { type: "new" }));
    await world.pass(2);
    expect([cost(), errors()]).toEqual([12, 1]);
    await world.stop();
  });

  it("03:S-7 a cloud that does not answer is an error, and asked again", async () => {
    const { world, shop, cost, errors } = await pricing("one");
    shop.trouble = new Error("no answer");
    await world.create(bought("a"));
    await world.pass(2);
    expect([cost(), (errors() ?? 0) > 0]).toEqual([0, true]);
    shop.trouble = undefined;
    await world.pass(600);
    expect(cost()).toBe(1);
    await world.stop();
  });

  it("02:O-8 a pool whose prices are being worked out is no error", async () => {
    const { world, shop, cost, errors } = await pricing("one");
    shop.trouble = new CloudError("unevaluated", 'nodepool "one" is awaiting evaluation');
    await world.create(bought("a"));
    await world.pass(2);
    expect([cost(), errors(), world.failures]).toEqual([0, undefined, []]);
    shop.trouble = undefined;
    await world.pass(5);
    expect(cost()).toBe(1);
    await world.stop();
  });

  it("03:S-7 the series goes with its pool", async () => {
    const { world, metrics } = await pricing("one");
    await world.client.delete(karpenterTypes.NodePool, { name: "one" });
    await world.pass(2);
    expect([...metrics.series.keys()]).toEqual([]);
    await world.stop();
  });

  it("03 Appendix A the loops of pools by name", async () => {
    const { world } = await pricing("one");
    expect(nodePoolControllers(world.dependencies).map(({ name }) => name)).toEqual([
      "nodepool.counter",
      "nodepool.hash",
      "nodepool.readiness",
      "nodepool.validation",
      "nodepool.registrationhealth",
      "nodepool.cost",
    ]);
    await world.stop();
  });
});
