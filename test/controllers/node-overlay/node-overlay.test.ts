import { describe, expect, it } from "vitest";
import { getCondition } from "../../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { NodeOverlay } from "../../../src/api/kinds/node-overlay.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import { labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { isCloudError } from "../../../src/cloud/cloud-error.ts";
import type { CloudProvider } from "../../../src/cloud/cloud-provider.ts";
import { overlaidProvider } from "../../../src/cloud/overlaid-provider.ts";
import { OverlayStore } from "../../../src/cloud/overlay-store.ts";
import { nodeOverlayController } from "../../../src/controllers/node-overlay/node-overlay-controller.ts";
import { poolCostController } from "../../../src/controllers/node-pool/pool-cost-controller.ts";
import type { InstanceType } from "../../../src/core/instance-type.ts";
import { karpenterTypes } from "../../../src/kube/resources.ts";
import { instanceType } from "../../builders/instance-type.ts";
import { recordingMetrics } from "../../world/recording-metrics.ts";
import { controllerWorld } from "../controller-world.ts";
import { claim, foreignClass, kwokClass, pool } from "../pool-objects.ts";

type Spec = Partial<NodeOverlay["spec"]>;

function overlay(name: string, spec: Spec): object {
  return {
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name },
    spec: { requirements: [], ...spec },
  };
}

const is = (key: string, ...values: string[]) => ({ key, operator: "In" as const, values });
const small = { requirements: [is(labels.instanceType, "small")] };
const large = { requirements: [is(labels.instanceType, "large")] };

/** A cloud that sells two types to every pool, unless told otherwise. */
async function overlaying() {
  const store = new OverlayStore();
  const types = [instanceType("small").price(1).build(), instanceType("large").price(4).build()];
  const shop = {
    types: types as readonly InstanceType[],
    broken: new Set<string>(),
    asked: 0,
    /** What the last launch chose from. */
    planned: undefined as readonly InstanceType[] | undefined,
  };
  const metrics = recordingMetrics();
  let provider: CloudProvider | undefined;
  const world = await controllerWorld({
    metrics,
    wrapProvider: (real) => {
      provider = {
        ...real,
        create: (launched, options) => {
          shop.planned = options?.plannedInstanceTypes?.(shop.types);
          return real.create(launched, options);
        },
        instanceTypes: async ({ metadata }) => {
          shop.asked++;
          if (shop.broken.has(metadata.name ?? "")) throw new Error("no answer");
          return shop.types;
        },
      };
      return overlaidProvider(provider, store);
    },
    controllers: (dependencies) => [
      nodeOverlayController(dependencies, { provider: provider as CloudProvider, store }),
      poolCostController(dependencies),
    ],
  });
  await world.create(kwokClass());

  const types_ = async (name: string): Promise<readonly InstanceType[]> =>
    world.provider.instanceTypes((await world.get<NodePool>(karpenterTypes.NodePool, name)) as NodePool);
  return {
    world,
    shop,
    store,
    metrics,
    types: types_,
    /** Price of the first offering of each type. */
    prices: async (name = "default") => (await types_(name)).map(({ offerings }) => offerings[0]?.price),
    gpus: async (name = "default") =>
      (await types_(name)).map(({ capacity }) => capacity["example.com/gpu"]?.toString() ?? "0"),
    verdict: async (name: string) => {
      const found = (await world.get<NodeOverlay>(karpenterTypes.NodeOverlay, name)) as NodeOverlay;
      const { status, reason } = getCondition(found, "ValidationSucceeded") ?? {};
      return `${status} ${reason}`;
    },
  };
}

const valid = "True ValidationSucceeded";
const conflict = "False Conflict";

describe("nodeoverlay", () => {
  it("02:O-8 without overlays types are those of the cloud", async () => {
    const { world, shop, types } = await overlaying();
    await world.create(pool());
    expect(await types("default")).toEqual(shop.types);
    expect((await types("default"))[0]).toBe(shop.types[0]);
    await world.stop();
  });

  it("02:O-9 a launch has the prices its pool was planned with, and of a pool that is gone nothing is kept", async () => {
    const { world, shop, prices } = await overlaying();
    await world.create(pool(), overlay("cheap", { ...small, price: "0.5" }));
    const launch = () => {
      world.provider.create(claim("a") as unknown as NodeClaim).catch(() => {}); // what it asks for matters here
      return shop.planned?.map(({ offerings }) => offerings[0]?.price);
    };
    expect(await prices()).toEqual([0.5, 4]);
    expect(launch()).toEqual([0.5, 4]);
    await world.client.delete(karpenterTypes.NodePool, { name: "default" });
    await world.pass(5);
    expect(launch()).toEqual([1, 4]);
    await world.stop();
  });

  it("02:O-8 one overlay is valid, ready and in force", async () => {
    const { world, prices, verdict } = await overlaying();
    await world.create(pool(), overlay("cheap", { ...small, price: "0.5" }));
    expect(await prices()).toEqual([0.5, 4]);
    expect(await verdict("cheap")).toBe(valid);
    const found = (await world.get<NodeOverlay>(karpenterTypes.NodeOverlay, "cheap")) as NodeOverlay;
    expect(getCondition(found, "Ready")?.status).toBe("True");
    await world.stop();
  });

  it.each<[string, Spec]>([
    ["requirement values", { requirements: [is(labels.instanceType, "no label value!")], price: "2" }],
    ["capacity", { ...small, capacity: { "aws.amazon.com/neuron": "1" }, price: "2" }],
  ])("02:O-4 %s that mean nothing make an overlay invalid, and it is skipped", async (_, spec) => {
    const { world, prices, verdict } = await overlaying();
    await world.create(pool(), overlay("bad", spec), overlay("good", { ...large, price: "3" }));
    expect(await verdict("bad")).toBe("False RuntimeValidation");
    expect(await verdict("good")).toBe(valid);
    expect(await prices()).toEqual([1, 3]);
    await world.stop();
  });

  const zoneA = { requirements: [is(labels.zone, "a", "b")] };
  const zoneB = { requirements: [is(labels.zone, "b", "c")] };
  const onDemand = { requirements: [is(labels.capacityType, "on-demand")] };

  it.each<[string, Spec, Spec]>([
    ["prices of one type", { ...small, price: "2" }, { ...small, price: "3" }],
    ["adjustments of one type", { ...small, priceAdjustment: "+2" }, { ...small, priceAdjustment: "-10%" }],
    ["equal prices", { ...small, price: "2" }, { ...small, price: "2" }],
    ["zones", { ...zoneA, price: "2" }, { ...zoneB, price: "3" }],
    ["capacity types", { ...onDemand, price: "2" }, { price: "3" }],
    ["a resource", { ...small, capacity: { "example.com/gpu": "1" } }, { capacity: { "example.com/gpu": "2" } }],
    ["an equal resource", { ...small, capacity: { "example.com/gpu": "1" } }, { capacity: { "example.com/gpu": "1" } }],
  ])("02:O-7 of two that conflict over %s the alphabetically later one stays", async (_, a, b) => {
    const { world, verdict } = await overlaying();
    await world.create(pool(), overlay("a", a), overlay("b", b));
    expect([await verdict("a"), await verdict("b")]).toEqual([conflict, valid]);
    const found = (await world.get<NodeOverlay>(karpenterTypes.NodeOverlay, "a")) as NodeOverlay;
    expect(getCondition(found, "ValidationSucceeded")?.message).toBe("conflict with another overlay");
    await world.stop();
  });

  it.each<[string, Spec, Spec, readonly number[]]>([
    ["other types", { ...small, price: "2" }, { ...large, price: "3" }, [2, 3]],
    ["other weights", { ...small, price: "2", weight: 10 }, { price: "3", weight: 1 }, [2, 3]],
    ["a price and a resource", { ...small, price: "2" }, { ...small, capacity: { "example.com/gpu": "1" } }, [2, 4]],
    ["other resources", { capacity: { "example.com/a": "1" } }, { capacity: { "example.com/b": "1" } }, [1, 4]],
  ])("02:O-7 %s do not conflict", async (_, a, b, expected) => {
    const { world, verdict, prices } = await overlaying();
    await world.create(pool(), overlay("a", a), overlay("b", b));
    expect([await verdict("a"), await verdict("b")]).toEqual([valid, valid]);
    expect(await prices()).toEqual(expected);
    await world.stop();
  });

  it("02:O-5 an overlay for one pool is for that pool; one for a label for pools that have it", async () => {
    const { world, prices, types } = await overlaying();
    await world.create(pool("one"), pool("two", { labels: { team: "a" } }));
    await world.create(
      overlay("by-pool", { requirements: [is(labels.nodePool, "one")], price: "2" }),
      overlay("by-label", { requirements: [is("team", "a")], price: "3" }),
    );
    expect([await prices("one"), await prices("two")]).toEqual([
      [2, 2],
      [3, 3],
    ]);
    // The pool's labels are not the types'.
    const known = (await types("two")).flatMap(({ requirements }) => requirements.sortedKeys());
    expect(known.filter((key) => key === "team" || key === labels.nodePool)).toEqual([]);
    await world.stop();
  });

  it("02:O-7 one that conflicts in one pool, or on one type, is applied nowhere", async () => {
    const { world, prices, gpus, verdict } = await overlaying();
    await world.create(pool("one"), pool("two"));
    await world.create(
      overlay("a", { price: "2", capacity: { "example.com/gpu": "1" } }),
      overlay("b", { requirements: [is(labels.nodePool, "one"), is(labels.instanceType, "small")], price: "3" }),
    );
    expect(await verdict("a")).toBe(conflict);
    expect([await prices("one"), await prices("two")]).toEqual([
      [3, 4],
      [1, 4],
    ]);
    expect([await gpus("one"), await gpus("two")]).toEqual([
      ["0", "0"],
      ["0", "0"],
    ]);
    await world.stop();
  });

  it("02:O-8 a conflict is over when its other side goes", async () => {
    const { world, prices, verdict } = await overlaying();
    await world.create(pool(), overlay("a", { ...small, price: "2" }), overlay("b", { ...small, price: "3" }));
    expect(await prices()).toEqual([3, 4]);
    await world.client.delete(karpenterTypes.NodeOverlay, { name: "b" });
    await world.clock.advance(0);
    expect([await verdict("a"), await prices()]).toEqual([valid, [2, 4]]);
    await world.stop();
  });

  it("02:O-8 types of a pool nobody has evaluated are not to be had", async () => {
    const { world, store } = await overlaying();
    const unknown = { ...((await world.create<NodePool>(pool())) as NodePool), metadata: { name: "later" } };
    const error = await world.provider.instanceTypes(unknown).catch((reason: unknown) => reason);
    expect(isCloudError(error, "unevaluated")).toBe(true);
    expect((error as Error).message).toBe('nodepool "later" is awaiting evaluation');
    expect(store.hasEvaluated("default")).toBe(true);
    await world.stop();
  });

  it("02:O-8 one pool that fails does not keep the others; it is tried again and recovers", async () => {
    const { world, shop, prices, verdict } = await overlaying();
    shop.broken.add("broken");
    await world.create(pool("healthy"), pool("broken"), overlay("cheap", { ...small, price: "0.5" }));
    expect(await prices("healthy")).toEqual([0.5, 4]);
    expect(await verdict("cheap")).toBe(valid);
    await expect(prices("broken")).rejects.toThrow("awaiting evaluation");
    expect(world.failures[0]).toMatchObject({ kind: "reconcile-failed", controller: "nodeoverlay" });
    shop.broken.clear();
    await world.pass(60);
    expect(await prices("broken")).toEqual([0.5, 4]);
    await world.stop();
  });

  it("02:O-8 a cloud that sells nothing is no trouble", async () => {
    const { world, shop, types, verdict } = await overlaying();
    shop.types = [];
    await world.create(pool(), overlay("cheap", { ...small, price: "0.5" }));
    expect([await types("default"), await verdict("cheap"), world.failures]).toEqual([[], valid, []]);
    await world.stop();
  });

  it("02:O-8 pools of a foreign node class are nobody's trouble", async () => {
    const { world, shop } = await overlaying();
    const before = shop.asked;
    await world.create(pool("foreign", { template: { nodeClassRef: foreignClass } }));
    expect([shop.asked, world.failures]).toEqual([before, []]);
    await world.stop();
  });

  it("02:O-8 runs on new generations of overlays, pools and classes, and else every six hours", async () => {
    const { world, shop, prices } = await overlaying();
    await world.create(pool(), overlay("cheap", { ...small, price: "0.5" }));
    const asked = () => shop.asked;
    const patch = async (type: typeof karpenterTypes.NodePool, name: string, body: object) => {
      const before = asked();
      await world.client.patch(type, { name }, { kind: "merge", body });
      await world.clock.advance(0);
      return asked() - before;
    };
    expect(await patch(karpenterTypes.NodeOverlay, "cheap", { spec: { price: "0.75" } })).toBe(1);
    expect(await prices()).toEqual([0.75, 4]);
    expect(await patch(karpenterTypes.NodePool, "default", { spec: { weight: 5 } })).toBe(1);
    expect(await patch(karpenterTypes.KWOKNodeClass, "default", { spec: { nodeRegistrationDelay: "5s" } })).toBe(1);
    expect(await patch(karpenterTypes.NodePool, "default", { metadata: { annotations: { a: "b" } } })).toBe(0);
    const before = asked();
    await world.pass(6 * 3_600 - 1);
    expect(asked() - before).toBe(0);
    await world.pass(2);
    expect(asked() - before).toBe(1);
    await world.stop();
  });

  it("02:O-8 marks the cluster unconsolidated", async () => {
    const { world } = await overlaying();
    await world.create(pool());
    await world.pass(60);
    const before = world.cluster.consolidationEpoch();
    await world.create(overlay("cheap", { ...small, price: "0.5" }));
    expect(world.cluster.consolidationEpoch()).not.toBe(before);
    await world.stop();
  });

  it("03:S-7 the cost of a pool follows its overlays", async () => {
    const { world, metrics } = await overlaying();
    const bought = { [labels.instanceType]: "small", [labels.zone]: "a", [labels.capacityType]: "on-demand" };
    await world.create(pool(), claim("x", { labels: bought }));
    await world.pass(2);
    expect(metrics.series.get('nodepools_cost_total{nodepool="default"}')).toBe(1);
    await world.create(overlay("cheap", { ...small, price: "0.5" }));
    expect(metrics.series.get('nodepools_cost_total{nodepool="default"}')).toBe(0.5);
    await world.client.delete(karpenterTypes.NodeOverlay, { name: "cheap" });
    await world.clock.advance(0);
    expect(metrics.series.get('nodepools_cost_total{nodepool="default"}')).toBe(1);
    await world.stop();
  });

  it("03:S-7 prices move with overlays and with the cloud's own", async () => {
    const { world, store } = await overlaying();
    let heard = 0;
    const stop = world.provider.onPricesChanged?.(() => heard++);
    world.cloud.setPrice({ capacityType: "spot" }, 0.01);
    expect(heard).toBe(1);
    store.replace({ overlays: [], pools: new Set() });
    expect(heard).toBe(2);
    stop?.();
    world.cloud.setPrice({ capacityType: "spot" }, 0.02);
    store.replace({ overlays: [], pools: new Set() });
    expect(heard).toBe(2);
    await world.stop();
  });

  it("02:O-9 everything else of the provider is as it was", async () => {
    const { world } = await overlaying();
    const { provider } = world;
    expect([provider.name, provider.nodeClasses.map(({ kind }) => kind)]).toEqual([
      "simulated",
      ["KWOKNodeClass", "EC2NodeClass"],
    ]);
    expect(provider.repairPolicies.length).toBeGreaterThan(0);
    const made = await world.create<NodeClaim>(claim("x"));
    const launched = provider.create(made);
    await world.pass(1);
    const { providerId } = await launched;
    const known = Promise.all([provider.get(providerId), provider.list(), provider.driftReason(made)]);
    await world.pass(1);
    expect(await known).toMatchObject([{ providerId }, [{ providerId }], undefined]);
    await world.status(made as KubeObject, { providerID: providerId });
    const ended = provider.delete((await world.get<NodeClaim>(karpenterTypes.NodeClaim, "x")) as NodeClaim);
    await world.pass(60);
    await ended;
    expect(world.cloud.records()).toEqual([]);
    await world.stop();
  });
});
