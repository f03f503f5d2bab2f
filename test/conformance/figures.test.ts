import { describe, expect, it } from "vitest";
import { type Figures, page, secondsAllowed } from "./figures.ts";

describe("the page of conformance results", () => {
  const figures: Figures = {
    "regression: A should | work": {
      upstream: { verdict: "pass", seconds: 10 },
      "karpenter-ts": { verdict: "pass", seconds: 21, cpuSeconds: 1.25, peakMb: 90.4, runs: "2/2", load: 8 },
    },
    "regression: B": { upstream: { verdict: "fail", seconds: 3, cpuSeconds: 0, peakMb: 1 } },
  };

  it("has a row for every spec, with a dash for what was not measured", () => {
    const rows = page(figures)
      .split("\n")
      .filter((line) => line.startsWith("| regression"));
    expect(rows).toEqual([
      "| regression: A should \\| work | pass | 10 | – | – | pass 2/2 | 21 | 1.3 | 90 | slow; load 8 |",
      "| regression: B | fail | 3 | 0.0 | 1 | – | – | – | – |  |",
    ]);
  });

  it("counts what passed among what was measured", () => {
    expect(page(figures)).toContain("2 specs. Passed upstream: 1 of 2 measured. Passed here: 1 of 1 measured.");
  });

  it("allows half as much time again as upstream takes, and five seconds", () => {
    expect(secondsAllowed({ upstream: { verdict: "pass", seconds: 10 } })).toBe(20);
    expect(secondsAllowed({})).toBeUndefined();
  });
});
