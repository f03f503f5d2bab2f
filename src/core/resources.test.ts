import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { Quantity } from "../util/quantity.ts";
import {
  amountOf,
  equalResources,
  maxResources,
  mergeResources,
  minResources,
  type Resources,
  resourcesFit,
  subtractResources,
} from "./resources.ts";

function list(amounts: Readonly<Record<string, string>>): Resources {
  return Object.fromEntries(Object.entries(amounts).map(([name, text]) => [name, Quantity.parse(text)]));
}

const texts = (resources: Resources) =>
  Object.fromEntries(Object.entries(resources).map(([name, quantity]) => [name, quantity.toString()]));

describe("02:A-8", () => {
  const left = list({ cpu: "2", memory: "1Gi" });
  const right = list({ cpu: "500m", gpu: "1" });

  it("merge sums over the union of names", () => {
    expect(texts(mergeResources(left, right, right))).toEqual({ cpu: "3", memory: "1Gi", gpu: "2" });
    expect(mergeResources()).toEqual({});
  });

  it("subtract keeps the names of the left side only", () => {
    expect(texts(subtractResources(left, right))).toEqual({ cpu: "1500m", memory: "1Gi" });
  });

  it("max is over the union of names, min over their intersection", () => {
    expect(texts(maxResources(left, right))).toEqual({ cpu: "2", memory: "1Gi", gpu: "1" });
    expect(texts(minResources(left, right))).toEqual({ cpu: "500m" });
    expect(texts(minResources(left))).toEqual(texts(left));
    expect(texts(minResources(right, left, list({ cpu: "100m" })))).toEqual({ cpu: "100m" });
  });
});

describe("02:A-9 fits", () => {
  it("asks for no more than there is, a missing resource being zero", () => {
    expect(resourcesFit(list({ cpu: "1" }), list({ cpu: "1" }))).toBe(true);
    expect(resourcesFit(list({ cpu: "1001m" }), list({ cpu: "1" }))).toBe(false);
    expect(resourcesFit(list({ gpu: "1" }), list({ cpu: "1" }))).toBe(false);
    expect(resourcesFit(list({ gpu: "0" }), list({ cpu: "1" }))).toBe(true);
  });

  it("refuses everything where one resource is overcommitted", () => {
    expect(resourcesFit({}, list({ cpu: "1", memory: "-1" }))).toBe(false);
  });

  it("02:A-10 is not fooled by names that objects inherit", () => {
    expect(resourcesFit(list({ constructor: "1" }), list({ cpu: "1" }))).toBe(false);
    expect(amountOf({}, "toString").isZero()).toBe(true);
    expect(texts(mergeResources(list({ constructor: "1" }), list({ constructor: "2" })))).toEqual({ constructor: "3" });
  });
});

it("compares by amount, whatever the suffix", () => {
  expect(equalResources(list({ memory: "1024Mi" }), list({ memory: "1Gi" }))).toBe(true);
  expect(equalResources(list({ cpu: "0" }), {})).toBe(false);
  expect(equalResources(list({ cpu: "1" }), list({ gpu: "1" }))).toBe(false);
});

it("02:A-8, A-9 what was merged in can be subtracted again, and fits in the sum", { timeout: 60_000 }, () => {
  const resources = fc
    .dictionary(fc.constantFrom("cpu", "memory", "pods", "gpu"), fc.bigInt({ min: 0n, max: 2n ** 80n }))
    .map((amounts): Resources => Object.fromEntries(Object.entries(amounts).map(([k, v]) => [k, Quantity.milli(v)])));
  fc.assert(
    fc.property(resources, resources, (a, b) => {
      const sum = mergeResources(a, b);
      expect(resourcesFit(a, sum)).toBe(true);
      expect(resourcesFit(b, sum)).toBe(true);
      const rest = subtractResources(sum, b);
      expect(equalResources(mergeResources(rest, a), mergeResources(a, a, subtractResources(b, b)))).toBe(true);
      expect(resourcesFit(a, maxResources(a, b))).toBe(true);
      expect(resourcesFit(minResources(a, b), a)).toBe(true);
    }),
    { numRuns: runs(10_000) },
  );
});
