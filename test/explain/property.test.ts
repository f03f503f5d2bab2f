import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { namespacedName } from "../../src/api/object.ts";
import { applyEdits } from "../../src/core/explain/edit.ts";
import { explainPod } from "../../src/core/explain/explain-pod.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { runs } from "../runs.ts";
import { causes, unplaceable, victimKey } from "./unplaceable.ts";

function isPlaced(problem: SchedulingProblem): boolean {
  return !solve(problem).refusals.some(({ pod }) => namespacedName(pod.metadata) === victimKey);
}

describe("suggestions for pods without a place", () => {
  const shares: Record<string, { cases: number; offered: number }> = {};

  it.each(causes)(
    "give the pod a place when taken up: %s",
    (cause) => {
      const share = { cases: 0, offered: 0 };
      shares[cause] = share;
      const each = Math.ceil(runs(1_000) / causes.length);
      fc.assert(
        fc.property(unplaceable(cause), ({ problem }) => {
          fc.pre(!isPlaced(problem));
          const explanation = explainPod(problem, victimKey);
          expect(explanation?.outcome.kind).toBe("unplaced");
          const suggestions = explanation?.suggestions ?? [];
          share.cases++;
          if (suggestions.length > 0) share.offered++;
          for (const suggestion of suggestions) {
            expect(isPlaced(applyEdits(problem, suggestion.edits)), suggestion.text).toBe(true);
          }
        }),
        { numRuns: each },
      );
      // A share of three cases says nothing; all causes together are judged below.
      if (share.cases >= 50) expect(share.offered / share.cases).toBeGreaterThanOrEqual(0.9);
    },
    600_000,
  );

  it("are offered for at least nine pods in ten", () => {
    const all = Object.values(shares);
    const cases = all.reduce((sum, share) => sum + share.cases, 0);
    const offered = all.reduce((sum, share) => sum + share.offered, 0);
    if (process.env["LONG"] === "1") console.info(JSON.stringify({ cases, offered, ...shares }));
    expect(offered / cases).toBeGreaterThanOrEqual(0.9);
  });
});
