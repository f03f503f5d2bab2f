import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { Bitset } from "./bitset.ts";

const numRuns = runs(10_000);
const ascending = (a: number, b: number) => a - b;

/** A size around the word boundaries, and two sets of that size as plain sets of numbers. */
const cases = fc.oneof(fc.integer({ min: 1, max: 140 }), fc.constantFrom(31, 32, 33, 63, 64, 65, 96)).chain((size) => {
  const members = fc.array(fc.nat(size - 1)).map((indexes) => new Set(indexes));
  return fc.record({ size: fc.constant(size), a: members, b: members, index: fc.integer({ min: -3, max: size + 40 }) });
});

const sorted = (members: Iterable<number>) => [...members].sort(ascending);

describe("Bitset", () => {
  it("holds what a set of numbers holds", () => {
    fc.assert(
      fc.property(cases, ({ size, a, index }) => {
        const set = Bitset.from(a, size);
        const visited: number[] = [];
        set.forEach((member) => {
          visited.push(member);
        });
        expect(visited).toEqual(sorted(a));
        expect(set.toArray()).toEqual(sorted(a));
        expect(set.count()).toBe(a.size);
        expect(set.isEmpty()).toBe(a.size === 0);
        expect(set.has(index)).toBe(a.has(index));
        expect(set.next(index)).toBe(sorted(a).find((member) => member >= index) ?? -1);
      }),
      { numRuns },
    );
  });

  it("adds and deletes single members", () => {
    fc.assert(
      fc.property(cases, ({ size, a, b, index }) => {
        const set = Bitset.from(a, size);
        for (const member of b) a.has(member) ? set.delete(member) : set.add(member);
        expect(set.delete(index).toArray()).toEqual(
          sorted([...a, ...b]).filter((member) => a.has(member) !== b.has(member) && member !== index),
        );
      }),
      { numRuns },
    );
  });

  it("combines in place as sets do, leaving the other as it was", () => {
    fc.assert(
      fc.property(cases, ({ size, a, b }) => {
        const left = Bitset.from(a, size);
        const right = Bitset.from(b, size);
        const inBoth = sorted(a).filter((member) => b.has(member));
        expect(left.clone().and(right).toArray()).toEqual(inBoth);
        expect(left.intersection(right).toArray()).toEqual(inBoth);
        expect(left.clone().or(right).toArray()).toEqual(sorted(new Set([...a, ...b])));
        expect(left.clone().andNot(right).toArray()).toEqual(sorted(a).filter((member) => !b.has(member)));
        expect(left.toArray()).toEqual(sorted(a));
        expect(right.toArray()).toEqual(sorted(b));
      }),
      { numRuns },
    );
  });

  it("compares as sets do", () => {
    fc.assert(
      fc.property(cases, ({ size, a, b }) => {
        const left = Bitset.from(a, size);
        const right = Bitset.from(b, size);
        expect(left.intersects(right)).toBe(sorted(a).some((member) => b.has(member)));
        expect(left.isSubsetOf(right)).toBe(sorted(a).every((member) => b.has(member)));
        expect(left.equals(right)).toBe(left.isSubsetOf(right) && right.isSubsetOf(left));
        expect(left.equals(left.clone())).toBe(true);
        expect(left.intersection(right).isSubsetOf(right)).toBe(true);
      }),
      { numRuns },
    );
  });

  it.each([0, 1, 31, 32, 33, 64, 100])("is full with all of %d members and no bit beyond", (size) => {
    const full = Bitset.full(size);
    expect(full.count()).toBe(size);
    expect(full.has(size)).toBe(false);
    expect(full.equals(Bitset.from(Array(size).keys(), size))).toBe(true);
    expect(full.clear().equals(Bitset.empty(size))).toBe(true);
  });

  it("refuses members outside its size and sets of another size", () => {
    expect(() => Bitset.empty(10).add(10)).toThrow("index 10 is outside a bitset of 10");
    expect(() => Bitset.empty(10).add(-1)).toThrow(RangeError);
    expect(() => Bitset.empty(10).and(Bitset.empty(11))).toThrow("bitsets of 10 and 11 do not match");
  });
});
