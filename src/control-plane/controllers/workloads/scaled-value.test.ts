import { describe, expect, it } from "vitest";
import { resolveFenceposts, scaledValue } from "./scaled-value.ts";

describe("counts and percents", () => {
  it.each([
    [3, 10, "up", 3],
    ["25%", 10, "up", 3],
    ["25%", 10, "down", 2],
    ["29%", 100, "up", 29],
    ["29%", 100, "down", 29],
    ["0%", 7, "up", 0],
    ["100%", 7, "down", 7],
    [undefined, 7, "up", 0],
    ["nonsense", 7, "up", 0],
  ] as const)("05:CP-L1 %s of %i rounded %s is %i", (value, of, round, expected) => {
    expect(scaledValue(value, { of, round })).toBe(expected);
  });

  it("05:CP-L1 a rollout can always move: with neither surge nor gap allowed, one pod may be missing", () => {
    expect(resolveFenceposts({ maxSurge: 0, maxUnavailable: 0 }, 10)).toEqual({ surge: 0, unavailable: 1 });
    expect(resolveFenceposts({ maxSurge: "25%", maxUnavailable: "25%" }, 1)).toEqual({ surge: 1, unavailable: 0 });
    expect(resolveFenceposts({ maxSurge: "0%", maxUnavailable: "25%" }, 3)).toEqual({ surge: 0, unavailable: 1 });
  });
});
