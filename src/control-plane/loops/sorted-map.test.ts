import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { SortedMap } from "./sorted-map.ts";

describe("sorted maps", () => {
  it("design §8 hold what a map holds, in the order of keys", () => {
    const step = fc.record({ key: fc.constantFrom("a", "b", "ab", "B", "", "c"), value: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const sorted = new SortedMap<number>();
        const plain = new Map<string, number>();
        for (const { key, value } of steps) {
          if (value === null) {
            sorted.delete(key);
            plain.delete(key);
          } else {
            sorted.set(key, value);
            plain.set(key, value);
          }
          const expected = [...plain].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
          expect(sorted.values()).toEqual(expected);
          expect(sorted.size).toBe(plain.size);
          expect(sorted.get(key)).toBe(plain.get(key));
        }
      }),
      { numRuns: runs(5_000) },
    );
  });
});
