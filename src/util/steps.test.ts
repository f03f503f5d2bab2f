import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { forEachInSteps, mapInSteps, runSteps, type Steps, sortInSteps } from "./steps.ts";

/** How many times the work yields. */
function stepsOf(work: Steps<unknown>): number {
  let count = 1;
  while (work.next().done !== true) count++;
  return count;
}

describe("work in steps", () => {
  it("sorts as `toSorted` does, ties in the order they came", () => {
    const item = fc.record({ key: fc.integer({ min: 0, max: 40 }), at: fc.nat() });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 3000, size: "max" }), (items) => {
        const byKey = (a: { key: number }, b: { key: number }): number => a.key - b.key;
        expect(runSteps(sortInSteps(items, byKey))).toEqual(items.toSorted(byKey));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("never handles many items at once", () => {
    const items = Array.from({ length: 20_000 }, (_, index) => (index * 7919) % 20_000);
    let compared = 0;
    const work = sortInSteps(items, (a, b) => {
      compared++;
      return a - b;
    });
    let most = 0;
    for (let before = 0, turn = work.next(); turn.done !== true; turn = work.next()) {
      most = Math.max(most, compared - before);
      before = compared;
    }
    expect(most).toBeLessThan(3000);
    expect(stepsOf(forEachInSteps(items, () => {}))).toBeGreaterThan(300);
  });

  it("maps and visits in order, with places", () => {
    expect(runSteps(mapInSteps(["a", "b"], (item, index) => `${item}${index}`))).toEqual(["a0", "b1"]);
    expect(runSteps(mapInSteps([], String))).toEqual([]);
    expect(runSteps(sortInSteps([] as number[], (a, b) => a - b))).toEqual([]);
  });
});
