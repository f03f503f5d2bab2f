import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../src/core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { podName, podsOnNodes } from "../builders/readers.ts";
import { runs } from "../runs.ts";
import { buildProblem, describeDraft } from "../twin/draft.ts";
import { busyDraft } from "./arbitrary.ts";
import { faultsOf } from "./checker.ts";

describe("a polished plan", () => {
  it("is as valid as the plain one, never more expensive, and has no more nodes", () => {
    const cases = runs(5_000);
    let cheaper = 0;
    fc.assert(
      fc.property(busyDraft, (draft) => {
        const problem = buildProblem(draft);
        const plain = solve(packed(problem, "plain"));
        const polished = solve(packed(problem, "polished"));
        const told = describeDraft(draft);
        expect(totalOf(polished), told).toBeLessThanOrEqual(totalOf(plain) + 1e-9);
        expect(polished.newNodes.length, told).toBeLessThanOrEqual(plain.newNodes.length);
        expect(refusedOf(polished), told).toEqual(refusedOf(plain));
        expect(podsOnNodes(polished), told).toEqual(podsOnNodes(plain));
        const known = faultsOf(problem, plain);
        expect(
          [...faultsOf(problem, polished)].filter((fault) => !known.has(fault)),
          told,
        ).toEqual([]);
        if (totalOf(polished) < totalOf(plain) - 1e-9) cheaper++;
      }),
      { numRuns: cases },
    );
    if (cases >= 1000) expect(cheaper).toBeGreaterThan(cases / 50); // there was something to check
  }, 600_000);
});

function packed(problem: SchedulingProblem, packing: "plain" | "polished"): SchedulingProblem {
  return { ...problem, policy: { ...problem.policy, packing } };
}

function totalOf({ newNodes }: Decision): number {
  return newNodes.reduce((sum, { price }) => sum + price, 0);
}

function refusedOf({ refusals }: Decision): readonly string[] {
  return refusals.map(({ pod }) => podName(pod));
}
