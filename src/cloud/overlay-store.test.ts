import { describe, expect, it } from "vitest";
import { instanceType } from "../../test/builders/instance-type.ts";
import { nodePool } from "../../test/builders/node-pool.ts";
import type { NodeOverlay } from "../api/kinds/node-overlay.ts";
import { labelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import type { InstanceType } from "../core/instance-type.ts";
import { OverlayStore } from "./overlay-store.ts";

const policy = labelPolicy("all");
const base = [instanceType("small").price(1).build(), instanceType("large").price(4).build()];
const { nodePool: pool } = nodePool("default").build([]);
const { nodePool: other } = nodePool("other").build([]);

function overlay(name: string, spec: Partial<NodeOverlay["spec"]>): NodeOverlay {
  return {
    apiVersion: "karpenter.sh/v1alpha1",
    kind: "NodeOverlay",
    metadata: { name },
    spec: { requirements: [], ...spec },
  };
}

const forSmall = { requirements: [{ key: labels.instanceType, operator: "In" as const, values: ["small"] }] };
const cheap = overlay("cheap", { ...forSmall, price: "0.5" });
const gpu = overlay("gpu", { ...forSmall, capacity: { "example.com/gpu": "2" } });

function storeWith(...overlays: readonly NodeOverlay[]): OverlayStore {
  const store = new OverlayStore();
  store.replace({ overlays, pools: new Set(["default", "other"]) });
  return store;
}

const prices = (types: readonly InstanceType[]) => types.map(({ offerings }) => offerings[0]?.price);

describe("the overlays in force", () => {
  it("02:O-9 without overlays all is shared", () => {
    const types = storeWith().apply(pool, { base, policy });
    expect(types).toEqual(base);
    for (const [at, type] of types.entries()) expect(type).toBe(base[at]);
  });

  it("02:O-9 a price copies offerings alone, and other types not at all", () => {
    const [small, large] = storeWith(cheap).apply(pool, { base, policy });
    expect(prices([small as InstanceType])).toEqual([0.5]);
    expect(small?.requirements).toBe(base[0]?.requirements);
    expect(small?.capacity).toBe(base[0]?.capacity);
    expect(small?.overhead).toBe(base[0]?.overhead);
    expect(large).toBe(base[1]);
  });

  it("02:O-9 capacity copies capacity alone", () => {
    const [small, large] = storeWith(gpu).apply(pool, { base, policy });
    expect(small?.capacity["example.com/gpu"]?.toString()).toBe("2");
    expect(small?.offerings).toBe(base[0]?.offerings);
    expect(large).toBe(base[1]);
  });

  it("02:O-9 the same types give the same list, until overlays, pool or types change", () => {
    const store = storeWith(cheap);
    const first = store.apply(pool, { base, policy });
    expect(store.apply(pool, { base, policy })).toBe(first);
    const dearer = [instanceType("small").price(2).build()];
    expect(store.apply(pool, { base: dearer, policy })).not.toBe(first);
    const edited = { ...pool, metadata: { ...pool.metadata, generation: 2 } };
    expect(store.apply(edited, { base, policy })).not.toBe(first);
    store.replace({ overlays: [], pools: new Set(["default"]) });
    expect(prices(store.apply(pool, { base, policy }))).toEqual([1, 4]);
  });

  it("02:O-8 what is on sale now counts, not what was when overlays were judged", () => {
    const store = storeWith(overlay("half", { priceAdjustment: "-50%" }));
    expect(prices(store.apply(pool, { base, policy }))).toEqual([0.5, 2]);
    const soldOut = [instanceType("small").price(6).soldOutIn("a").build()];
    const [now] = store.apply(pool, { base: soldOut, policy });
    expect(now?.offerings.map(({ price, available }) => [price, available]).slice(0, 2)).toEqual([
      [3, false],
      [expect.closeTo(2.1), false],
    ]);
  });

  it("02:O-6 where two of one weight meet on a type that is new, the first in order counts", () => {
    const store = storeWith(overlay("a", { price: "7" }), overlay("b", { price: "9" }));
    expect(prices(store.apply(pool, { base, policy }))).toEqual([9, 9]);
  });

  it("02:O-5 each pool gets its own", () => {
    const only = overlay("only", {
      requirements: [{ key: labels.nodePool, operator: "In", values: ["other"] }],
      price: "0.25",
    });
    const store = storeWith(only);
    expect(prices(store.apply(pool, { base, policy }))).toEqual([1, 4]);
    expect(prices(store.apply(other, { base, policy }))).toEqual([0.25, 0.25]);
    expect(prices(store.apply(pool, { base, policy }))).toEqual([1, 4]);
  });

  it("02:L-3 tells which types were priced and which enlarged, also of those handed out before", () => {
    const store = storeWith(cheap);
    const [before] = store.apply(pool, { base, policy });
    store.replace({ overlays: [gpu], pools: new Set(["default"]) });
    const [after, large] = store.apply(pool, { base, policy });
    const { priced, enlarged } = store.overlaid;
    expect([before, after, large].map((type) => type && [priced.has(type), enlarged.has(type)])).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
  });

  it("02:O-8 tells whoever listens of every replacement, until they stop", () => {
    const store = new OverlayStore();
    let heard = 0;
    const stop = store.subscribe(() => heard++);
    store.replace({ overlays: [], pools: new Set() });
    stop();
    store.replace({ overlays: [], pools: new Set() });
    expect(heard).toBe(1);
  });

  it("02:O-8 a pool is evaluated once it was among the pools", () => {
    const store = new OverlayStore();
    expect(store.hasEvaluated("default")).toBe(false);
    store.replace({ overlays: [], pools: new Set(["default"]) });
    expect([store.hasEvaluated("default"), store.hasEvaluated("other")]).toEqual([true, false]);
  });
});
