import { describe, expect, it } from "vitest";
import { haveSameParts } from "./same-parts.ts";

class Box {
  readonly size = 1;
}

describe("whether two values have the same parts", () => {
  const inner = { deep: { deeper: 1 } };

  it.each<[string, unknown, unknown, number, boolean]>([
    ["one value", inner, inner, 0, true],
    ["equal numbers", 1, 1, 0, true],
    ["not a number twice", Number.NaN, Number.NaN, 0, true],
    ["lists of one value", [inner], [inner], 1, true],
    ["lists, but no level is left", [inner], [inner], 0, false],
    ["lists of equal values", [{ a: 1 }], [{ a: 1 }], 2, true],
    ["lists of equal values, one level too deep", [{ a: 1 }], [{ a: 1 }], 1, false],
    ["lists of other lengths", [inner], [inner, inner], 9, false],
    ["a longer list first", [inner, inner], [inner], 9, false],
    ["lists in another order", [1, 2], [2, 1], 9, false],
    ["a list and an object", [], {}, 9, false],
    ["objects with the same values", { a: inner, b: 1 }, { b: 1, a: inner }, 1, true],
    ["an object with one more", { a: 1 }, { a: 1, b: 2 }, 9, false],
    ["an object with another name", { a: undefined }, { b: undefined }, 9, false],
    ["an object with another value", { a: 1 }, { a: 2 }, 9, false],
    ["nothing and an object", null, {}, 9, false],
    ["an object and nothing", {}, null, 9, false],
    ["an object and undefined", {}, undefined, 9, false],
    ["equal maps", new Map([["a", inner]]), new Map([["a", inner]]), 1, true],
    ["maps of equal values", new Map([["a", [1]]]), new Map([["a", [1]]]), 2, true],
    ["maps of other values", new Map([["a", 1]]), new Map([["a", 2]]), 9, false],
    ["maps of other keys", new Map([["a", 1]]), new Map([["b", 1]]), 9, false],
    ["a map with one more", new Map(), new Map([["a", 1]]), 9, false],
    ["a map and an object", new Map(), {}, 9, false],
    ["a map and a set", new Map(), new Set(), 9, false],
    ["equal sets", new Set([1, 2]), new Set([2, 1]), 1, true],
    ["other sets", new Set([1, 2]), new Set([1, 3]), 9, false],
    ["a set with one more", new Set([1]), new Set([1, 3]), 9, false],
    ["a set and a map", new Set(), new Map(), 9, false],
    ["objects of a class", new Box(), new Box(), 9, false],
    ["an object of a class and a plain one", { size: 1 }, new Box(), 9, false],
  ])("%s", (_, a, b, depth, expected) => expect(haveSameParts(a, b, depth)).toBe(expected));

  it("maps in another order: who goes through them sees another", () => {
    const entries: [string, number][] = [
      ["a", 1],
      ["b", 2],
    ];
    expect(haveSameParts(new Map(entries), new Map(entries.toReversed()), 9)).toBe(false);
  });
});
