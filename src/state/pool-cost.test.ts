import { describe, expect, it } from "vitest";
import { instanceType } from "../../test/builders/instance-type.ts";
import type { NodeClaim } from "../api/kinds/node-claim.ts";
import { labels } from "../api/labels.ts";
import { poolCost, priceKeyOf, priceList } from "./pool-cost.ts";

interface Bought {
  readonly type?: string;
  readonly zone?: string;
  readonly capacityType?: string;
}

function claim(name: string, { type = "small", zone = "a", capacityType = "on-demand" }: Bought = {}): NodeClaim {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: {
      name,
      labels: { [labels.instanceType]: type, [labels.zone]: zone, [labels.capacityType]: capacityType },
    },
    spec: {
      requirements: [],
      nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
      expireAfter: "720h",
    },
  };
}

const prices = priceList([
  instanceType("small").price(1).priceIn("a", 0.25, "spot").build(),
  instanceType("large").price(4).soldOutIn("b").build(),
]);

describe("what a pool costs", () => {
  it.each([
    ["nothing", [], 0],
    ["one spot node", [claim("x", { capacityType: "spot" })], 0.25],
    ["one node on demand", [claim("x")], 1],
    ["two of a kind", [claim("x"), claim("y")], 2],
    ["different ones", [claim("x"), claim("y", { capacityType: "spot" }), claim("z", { type: "large" })], 5.25],
    ["one that could not be bought again", [claim("x", { type: "large", zone: "b" })], 4],
  ])("03:S-7 %s", (_, claims, total) => {
    expect(poolCost(claims, prices)).toEqual({ total, unpriced: [] });
  });

  it("03:S-7 a claim that does not say what it became is not counted yet", () => {
    const young = claim("young", { zone: "" });
    expect(priceKeyOf(young)).toBeUndefined();
    expect(poolCost([young], prices)).toEqual({ total: 0, unpriced: [] });
  });

  it("03:S-7 an unknown price counts for nothing, and is told of", () => {
    const unknown = [claim("x", { type: "huge" }), claim("y", { zone: "z" }), claim("w", { capacityType: "reserved" })];
    expect(poolCost([claim("known"), ...unknown], prices)).toEqual({ total: 1, unpriced: unknown });
  });

  it("03:S-7 of several reservations in a zone the first one's price counts", () => {
    const reserved = instanceType("small")
      .price(1e7)
      .reserved("one", { zone: "a", capacity: 1 })
      .reserved("two", { zone: "a", capacity: 1 });
    const { total } = poolCost([claim("x", { capacityType: "reserved" })], priceList([reserved.build()]));
    expect(total).toBeCloseTo(1);
  });
});
