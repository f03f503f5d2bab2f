import { expect, it } from "vitest";
import { isDeeperThan } from "./nesting.ts";

it.each([
  [1, 0, false],
  [{}, 0, true],
  [{}, 1, false],
  [{ a: [1] }, 1, true],
  [{ a: [1] }, 2, false],
  [{ a: 1, b: { c: { d: null } } }, 2, true],
  [{ a: 1, b: { c: { d: null } } }, 3, false],
])("%j is nested more than %i levels: %s", (value, levels, isDeeper) => {
  expect(isDeeperThan(value, levels)).toBe(isDeeper);
});

it("is not stopped by any depth", () => {
  const depth = 200_000;
  expect(isDeeperThan(JSON.parse("[".repeat(depth) + "]".repeat(depth)), depth)).toBe(false);
});
