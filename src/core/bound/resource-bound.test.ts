import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amounts, instanceType } from "../../../test/builders/instance-type.ts";
import { nodePool } from "../../../test/builders/node-pool.ts";
import { runs } from "../../../test/runs.ts";
import { labelPolicy } from "../../api/label-policy.ts";
import { resourceBound } from "./resource-bound.ts";

const policy = labelPolicy("kwok");
const gib = 2 ** 30;

interface Size {
  readonly cpu: number;
  readonly gib: number;
  readonly price: number;
}

const pool = (...sizes: readonly Size[]) =>
  nodePool()
    .requires("karpenter.sh/capacity-type", "In", "on-demand")
    .build(
      sizes.map((size, index) =>
        instanceType(`t${index}`).resource("cpu", String(size.cpu)).memory(`${size.gib}Gi`).price(size.price).build(),
      ),
    );

const bound = (cpu: number, memoryGib: number, ...sizes: readonly Size[]) =>
  resourceBound(amounts({ cpu: String(cpu), memory: `${memoryGib}Gi` }), [pool(...sizes)], policy);

describe("the resource bound", () => {
  it("03 §10.2 is what the scarcer resource costs where there is one type", () => {
    const size = { cpu: 4, gib: 16, price: 1 };
    expect(bound(8, 1, size)).toBeCloseTo(2);
    expect(bound(1, 64, size)).toBeCloseTo(4);
  });

  it("03 §10.2 mixes types as if they were divisible", () => {
    const [lean, rich] = [
      { cpu: 8, gib: 8, price: 1 },
      { cpu: 4, gib: 32, price: 1 },
    ];
    expect(bound(12, 40, lean, rich)).toBeCloseTo(2); // one of each, exactly
    expect(bound(12, 40, lean)).toBeCloseTo(5);
  });

  it("counts what the pool allows only, and other resources alone", () => {
    const types = [
      instanceType("cheap").price(0.1).build(),
      instanceType("gpu").resource("nvidia.com/gpu", "2").price(8).build(),
    ];
    const dear = nodePool()
      .requires("node.kubernetes.io/instance-type", "In", "gpu")
      .requires("karpenter.sh/capacity-type", "In", "on-demand")
      .build(types);
    expect(resourceBound(amounts({ cpu: "2" }), [dear], policy)).toBeCloseTo(4);
    expect(
      resourceBound(
        amounts({ "nvidia.com/gpu": "3" }),
        [nodePool().requires("karpenter.sh/capacity-type", "In", "on-demand").build(types)],
        policy,
      ),
    ).toBeCloseTo(12);
    expect(resourceBound(amounts({ "example.com/none": "1" }), [dear], policy)).toBe(Number.POSITIVE_INFINITY);
    expect(resourceBound({}, [dear], policy)).toBe(0);
  });

  it("03 §10.2 no purchase that covers the requests is cheaper, and some divisible one costs just that", () => {
    const size = fc.record({
      cpu: fc.integer({ min: 1, max: 64 }),
      gib: fc.integer({ min: 1, max: 256 }),
      price: fc.integer({ min: 1, max: 100 }),
    });
    fc.assert(
      fc.property(
        fc.array(size, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 0, max: 500 }),
        (sizes, cpu, memory) => {
          const least = cheapestMix(sizes, cpu, memory);
          expect(bound(cpu, memory, ...sizes)).toBeCloseTo(least, 6);
        },
      ),
      { numRuns: runs(20_000) },
    );
  });

  it("is exact with bytes", () => {
    const size = { cpu: 1, gib: 1, price: 1 };
    expect(resourceBound(amounts({ memory: String(3 * gib) }), [pool(size)], policy)).toBeCloseTo(3);
  });
});

/** Slow and obvious: an optimal mix of divisible types uses two of them at most. */
function cheapestMix(sizes: readonly Size[], cpu: number, memory: number): number {
  const alone = sizes.map((one) => one.price * Math.max(cpu / one.cpu, memory / one.gib));
  const pairs = sizes.flatMap((a) =>
    sizes.flatMap((b) => {
      const determinant = a.cpu * b.gib - b.cpu * a.gib;
      if (determinant === 0) return [];
      const x = (cpu * b.gib - b.cpu * memory) / determinant;
      const y = (a.cpu * memory - a.gib * cpu) / determinant;
      return x >= 0 && y >= 0 ? [x * a.price + y * b.price] : [];
    }),
  );
  return Math.min(...alone, ...pairs);
}
