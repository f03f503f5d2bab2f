import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { Heap } from "./heap.ts";

const ascending = (a: number, b: number) => a - b;

/** A number is pushed; the others are operations. */
const steps = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.integer({ min: -20, max: 20 }) }, fc.constantFrom("pop", "retain even")),
  { maxLength: 80 },
);

describe("Heap", () => {
  it("behaves as a sorted array", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -20, max: 20 })), steps, (start, taken) => {
        const heap = new Heap(ascending, start);
        let model = start.toSorted(ascending);
        for (const step of taken) {
          if (step === "pop") expect(heap.pop()).toBe(model.shift());
          else if (step === "retain even") {
            heap.retain((n) => n % 2 === 0);
            model = model.filter((n) => n % 2 === 0);
          } else {
            heap.push(step);
            model = [...model, step].toSorted(ascending);
          }
          expect(heap.size).toBe(model.length);
          expect(heap.peek()).toBe(model[0]);
        }
        expect(heap.drain()).toEqual(model);
        expect(heap.size).toBe(0);
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("keeps every one of the items that compare equal", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.nat())), (pairs) => {
        const drained = new Heap<[number, number]>(([a], [b]) => a - b, pairs).drain();
        expect(drained.map(([key]) => key)).toEqual(pairs.map(([key]) => key).toSorted(ascending));
        expect(new Set(drained)).toEqual(new Set(pairs));
        expect(drained).toHaveLength(pairs.length);
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("returns undefined when empty", () => {
    const heap = new Heap(ascending);
    expect([heap.pop(), heap.peek(), heap.size, heap.drain()]).toEqual([undefined, undefined, 0, []]);
  });
});
