import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { SortedMap } from "./sorted-map.ts";

interface Step {
  readonly key: string;
  /** Null deletes. */
  readonly value: number | null;
  /** Whether the values are read afterwards. */
  readonly looks: boolean;
}

const keys = Array.from({ length: 12 }, (_, index) => `${"abcd"[index % 4]}${index % 3}`);
const step: fc.Arbitrary<Step> = fc.record({
  key: fc.constantFrom(...keys, "", "B"),
  value: fc.option(fc.nat()),
  looks: fc.boolean(),
});

function inOrder(plain: ReadonlyMap<string, number>): readonly number[] {
  return [...plain].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

describe("sorted maps", () => {
  it("contain what a map contains, sorted by key, however rarely they are read", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const sorted = new SortedMap<number>();
        const plain = new Map<string, number>();
        for (const { key, value, looks } of steps) {
          if (value === null) expect(sorted.delete(key)).toBe(plain.delete(key));
          else {
            sorted.set(key, value);
            plain.set(key, value);
          }
          if (looks) expect(sorted.values()).toEqual(inOrder(plain));
          expect([sorted.size, sorted.get(key), sorted.has(key)]).toEqual([plain.size, plain.get(key), plain.has(key)]);
        }
        expect(sorted.values()).toEqual(inOrder(plain));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("return the same list until something changes, and never change it", () => {
    const sorted = new SortedMap<number>().set("b", 2).set("a", 1).set("c", 3);
    const first = sorted.values();
    expect(sorted.values()).toBe(first);
    for (const change of [() => sorted.set("b", 20), () => sorted.delete("a"), () => sorted.set("aa", 4)]) {
      change();
      expect(sorted.values()).not.toBe(first);
      expect(first).toEqual([1, 2, 3]);
    }
    expect(sorted.values()).toEqual([4, 20, 3]);
  });

  it("count how many keys are unsorted", () => {
    const sorted = new SortedMap<number>().set("b", 2).set("a", 1).set("c", 3);
    expect(sorted.unsortedCount).toBe(3);
    sorted.values();
    expect(sorted.unsortedCount).toBe(0);
    sorted.set("b", 20).set("b", 21).delete("c");
    expect(sorted.unsortedCount).toBe(2);
  });
});
