import fc from "fast-check";
import { problemDraft } from "../twin/arbitrary.ts";
import type { PodDraft, PodTrait, PoolDraft, ProblemDraft, TypeDraft } from "../twin/draft.ts";

/** The twin's problems made roomier: more sizes to choose from, more pods a node, and many pods with few constraints. */

const app = fc.constantFrom("x", "y");

const trait: fc.Arbitrary<PodTrait> = fc.oneof(
  fc.constantFrom("zone", "host", "capacity-type").map((key) => ["spread", key, {}] as const),
  fc.constantFrom(1, 2).map((maxSkew) => ["spread", "host", { maxSkew, selects: { app: "x" } }] as const),
  fc
    .tuple(fc.constantFrom("near" as const, "apart" as const), fc.constantFrom("zone", "host"), app)
    .map(([how, key, name]) => [how, key, { app: name }, {}] as const),
  fc.constantFrom("zone", "host").map((key) => ["apart", key, { app: "x" }, { weight: 1 }] as const),
  fc.constantFrom("on-demand", "spot").map((how) => ["on", "capacity-type", how] as const),
  fc.constantFrom("a", "b").map((zone) => ["on", "zone", zone] as const),
  fc.constantFrom("v0", "v1").map((claim) => ["volume", claim] as const),
  fc.constant(["port", 80, ""] as const),
  fc.constantFrom("500Mi", "6Gi").map((memory) => ["request", "memory", memory] as const),
);

const easyPod: fc.Arbitrary<PodDraft> = fc.record({
  count: fc.integer({ min: 1, max: 7 }),
  cpu: fc.constantFrom("250m", "500m", "900m", "1", "1700m", "3"),
  app,
  traits: fc.array(trait, { maxLength: 2 }),
});

const easyType: fc.Arbitrary<TypeDraft> = fc.record({
  cpu: fc.constantFrom(1, 2, 3, 4, 8, 16),
  traits: fc.array(
    fc
      .tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom(0.3, 2))
      .map(([where, price]) => ["priceIn", where, price] as const),
    { maxLength: 1 },
  ),
});

const easyPool: fc.Arbitrary<PoolDraft> = fc.record({
  traits: fc.array(
    fc.constantFrom(
      ["limit", "cpu", "40"] as const,
      ["limit", "memory", "90Gi"] as const,
      ["minValues", "type", 2] as const,
      ["weight", 5] as const,
    ),
    { maxLength: 1 },
  ),
});

export const busyDraft: fc.Arbitrary<ProblemDraft> = fc
  .record({
    twin: problemDraft,
    pods: fc.array(easyPod, { minLength: 2, maxLength: 7 }),
    types: fc.array(easyType, { minLength: 3, maxLength: 6 }),
    pools: fc.array(easyPool, { minLength: 1, maxLength: 2 }),
    isHard: fc.boolean(),
  })
  .map(({ twin, pods, types, pools, isHard }) => ({
    ...twin,
    nodes: isHard ? twin.nodes : [],
    types: [...types, ...twin.types],
    pools: isHard ? [...pools, ...twin.pools] : pools,
    pods: isHard ? [...pods, ...twin.pods] : pods,
  }));
