import { describe, expect, it } from "vitest";
import { instanceType } from "../../test/builders/instance-type.ts";
import { nodePool } from "../../test/builders/node-pool.ts";
import type { NodeOverlay } from "../api/kinds/node-overlay.ts";
import { labelPolicy } from "../api/label-policy.ts";
import { offeringCapacityType, offeringZone, withPriceSource } from "./instance-type.ts";
import { adjustedPrice, applyOverlays } from "./overlay.ts";

const policy = labelPolicy("kwok");
const types = [instanceType("small").price(1).build(), instanceType("large").price(2).build()];

function overlay(name: string, spec: object): NodeOverlay {
  return {
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name },
    spec: { requirements: [], ...spec },
  } as unknown as NodeOverlay;
}

function apply(...overlays: readonly NodeOverlay[]) {
  return applyOverlays([nodePool("blue").build(types), nodePool("green").label("team", "green").build(types)], {
    overlays,
    policy,
  });
}

/** On-demand prices in zone a, by pool and type. */
function prices(result: ReturnType<typeof apply>): Readonly<Record<string, number | undefined>> {
  const entries = result.pools.flatMap(({ nodePool: pool, instanceTypes }) =>
    instanceTypes.map(({ name, offerings }) => {
      const found = offerings.find((one) => offeringZone(one) === "a" && offeringCapacityType(one) === "on-demand");
      return [`${pool.metadata.name}/${name}`, found?.price] as const;
    }),
  );
  return Object.fromEntries(entries);
}

const only = (name: string) => ({
  requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: [name] }],
});
const faults = (result: ReturnType<typeof apply>) =>
  result.faults.map(({ overlay: { metadata }, reason }) => [metadata.name, reason]);

describe("NodeOverlays", () => {
  it.each([
    [{ price: "0.25" }, 0.25],
    [{ priceAdjustment: "+0.5" }, 2.5],
    [{ priceAdjustment: "-0.5" }, 1.5],
    [{ priceAdjustment: "-5" }, 0],
    [{ priceAdjustment: "+50%" }, 3],
    [{ priceAdjustment: "-25%" }, 1.5],
    [{ priceAdjustment: "-100%" }, 0],
    [{}, 2],
  ])("02:O-2 %j makes of 2 dollars %d", (spec, expected) => {
    expect(adjustedPrice(2, spec)).toBeCloseTo(expected);
  });

  it("02:O-9 leaves alone what no overlay touches", () => {
    const pools = [nodePool().build(types)];
    expect(applyOverlays(pools, { overlays: [], policy }).pools).toBe(pools);
    const untouched = applyOverlays(pools, { overlays: [overlay("o", { ...only("huge"), price: "9" })], policy });
    expect(untouched.pools[0]).toBe(pools[0]);
    const [large] =
      applyOverlays(pools, {
        overlays: [overlay("o", { ...only("small"), price: "9" })],
        policy,
      }).pools[0]?.instanceTypes.slice(1) ?? [];
    expect(large).toBe(types[1]);
  });

  it("02:O-5 matches by type, by pool and by the labels of a pool's template", () => {
    expect(prices(apply(overlay("o", { ...only("small"), price: "9" })))).toEqual({
      "blue/small": 9,
      "blue/large": 2,
      "green/small": 9,
      "green/large": 2,
    });
    const ofPool = { requirements: [{ key: "karpenter.sh/nodepool", operator: "In", values: ["blue"] }] };
    expect(prices(apply(overlay("o", { ...ofPool, price: "9" })))).toEqual({
      "blue/small": 9,
      "blue/large": 9,
      "green/small": 1,
      "green/large": 2,
    });
    const ofTeam = { requirements: [{ key: "team", operator: "In", values: ["green"] }] };
    expect(prices(apply(overlay("o", { ...ofTeam, price: "9" })))).toEqual({
      "blue/small": 1,
      "blue/large": 2,
      "green/small": 9,
      "green/large": 9,
    });
  });

  it("02:O-5 02:O-6 prices the offerings that match and gives capacity to the whole type", () => {
    const inZone = { requirements: [{ key: "topology.kubernetes.io/zone", operator: "In", values: ["b"] }] };
    const result = apply(overlay("o", { ...inZone, price: "9", capacity: { "example.com/fpga": "2" } }));
    expect(prices(result)["blue/small"]).toBe(1);
    const [small] = result.pools[0]?.instanceTypes ?? [];
    expect(small?.offerings.filter(({ price }) => price === 9).map(offeringZone)).toEqual(["b", "b"]);
    expect(String(small?.capacity["example.com/fpga"])).toBe("2");
    expect([result.priced.size, result.enlarged.size]).toEqual([4, 4]);
  });

  it("02:O-2 says whose price it is, and what an adjustment goes on from", () => {
    const list = { kind: "list", region: "r", date: "2026-07-20" } as const;
    const sources = (spec: Partial<NodeOverlay["spec"]>) => {
      const pools = [nodePool().build(withPriceSource(types, list))];
      const result = applyOverlays(pools, { overlays: [overlay("o", { ...only("small"), ...spec })], policy });
      return result.pools[0]?.instanceTypes.map(({ offerings }) => offerings[0]?.priceSource);
    };
    expect(sources({ price: "9" })).toEqual([{ kind: "overlay", nodeOverlay: "o" }, list]);
    expect(sources({ priceAdjustment: "+1%" })).toEqual([{ kind: "overlay", nodeOverlay: "o", of: list }, list]);
  });

  it("02:O-3 02:O-6 the heavier overlay wins, of equals the later name; capacities of several merge", () => {
    const heavy = overlay("heavy", { price: "7", weight: 10, capacity: { "example.com/a": "1" } });
    const light = overlay("light", { price: "8", capacity: { "example.com/a": "5", "example.com/b": "2" } });
    const result = apply(light, heavy);
    expect(faults(result)).toEqual([]);
    expect(prices(result)["blue/small"]).toBe(7);
    const capacity = result.pools[0]?.instanceTypes[0]?.capacity ?? {};
    expect([String(capacity["example.com/a"]), String(capacity["example.com/b"])]).toEqual(["1", "2"]);
  });

  it("02:O-7 of two with one weight that meet anywhere, the earlier name is applied nowhere", () => {
    const wide = overlay("a", { price: "7" });
    const narrow = overlay("b", { ...only("small"), price: "8" });
    const result = apply(wide, narrow);
    expect(faults(result)).toEqual([["a", "Conflict"]]);
    expect(prices(result)).toEqual({ "blue/small": 8, "blue/large": 2, "green/small": 8, "green/large": 2 });
    expect(faults(apply(overlay("a", { price: "7", weight: 2 }), narrow))).toEqual([]);
    expect(faults(apply(overlay("a", { ...only("large"), price: "7" }), narrow))).toEqual([]);
    const capacity = { capacity: { "example.com/a": "1" } };
    expect(faults(apply(overlay("a", capacity), overlay("b", capacity)))).toEqual([["a", "Conflict"]]);
    expect(faults(apply(overlay("a", capacity), narrow))).toEqual([]);
  });

  it("02 §12.2-17 conflicts with any overlay of its weight, not the last one alone", () => {
    const result = apply(
      overlay("c", { ...only("small"), price: "1" }),
      overlay("b", { ...only("large"), price: "1" }),
      overlay("a", { ...only("small"), price: "1" }),
    );
    expect(faults(result)).toEqual([["a", "Conflict"]]);
  });

  it("02:O-4 leaves out what does not pass validation", () => {
    const wrong = overlay("o", {
      requirements: [{ key: "karpenter.sh/unknown", operator: "In", values: ["x"] }],
      price: "9",
    });
    const result = apply(wrong);
    expect(faults(result)).toEqual([["o", "RuntimeValidation"]]);
    expect(prices(result)["blue/small"]).toBe(1);
  });

  it("02 §12.2-16 keeps an offering's own sizes when it is priced", () => {
    const sized = instanceType("odd").sizeIn("a", { memory: "1Gi" }).build();
    const [type] =
      applyOverlays([nodePool().build([sized])], { overlays: [overlay("o", { price: "9" })], policy }).pools[0]
        ?.instanceTypes ?? [];
    expect(type?.offerings.some(({ capacityOverride, price }) => capacityOverride !== undefined && price === 9)).toBe(
      true,
    );
  });
});
