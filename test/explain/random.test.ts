import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { namespacedName } from "../../src/api/object.ts";
import { applyEdits } from "../../src/core/explain/edit.ts";
import { explainPod } from "../../src/core/explain/explain-pod.ts";
import { reduceProblem } from "../../src/core/explain/reduce-problem.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { runs } from "../runs.ts";
import { problemDraft } from "../twin/arbitrary.ts";
import { buildProblem, describeDraft, type PodDraft } from "../twin/draft.ts";
import { readable } from "../twin/readable.ts";

function refused(problem: SchedulingProblem): readonly string[] {
  return solve(problem).refusals.map(({ pod }) => namespacedName(pod.metadata));
}

/** Hosts that are full are not listed once they are left out. */
function withoutHostCounts({ refusals, ...rest }: ReturnType<typeof readable>) {
  return { ...rest, refusals: refusals.map((text) => text.replace(/key=kubernetes\.io\/hostname \(counts = .*$/, "")) };
}

describe("problems of every kind", () => {
  it("02 §5 are decided alike without what cannot matter", () => {
    fc.assert(
      fc.property(problemDraft, (draft) => {
        const problem = buildProblem(draft);
        const expected = withoutHostCounts(readable(solve(problem)));
        expect(withoutHostCounts(readable(solve(reduceProblem(problem)))), describeDraft(draft)).toEqual(expected);
      }),
      { numRuns: runs(5_000) },
    );
  }, 600_000);

  it("02:X-10 a domain stays known though its first node is a claim without a Node", () => {
    const running: PodDraft = { count: 1, cpu: "1", app: "x", traits: [] };
    const asking: PodDraft = { ...running, cpu: "3500m" };
    const problem = buildProblem({
      seed: 1,
      policy: {},
      types: [{ cpu: 4, traits: [] }],
      pools: [{ traits: [] }],
      nodes: [
        { zone: "z8", cpu: "4", traits: [["runs", running], ["inFlight"]] },
        { zone: "z8", cpu: "1", traits: [] },
      ],
      pods: [{ ...asking, traits: [["spread", "zone", {}]] }, asking],
      daemons: [],
      volumes: [],
    });
    expect(readable(solve(reduceProblem(problem)))).toEqual(readable(solve(problem)));
  });

  it("are explained, and what is suggested helps", () => {
    let cases = 0;
    let offered = 0;
    fc.assert(
      fc.property(problemDraft, (draft) => {
        const problem = buildProblem(draft);
        const [first] = refused(problem);
        if (first === undefined) return;
        const explanation = explainPod(problem, first);
        expect(explanation?.outcome.kind).toBe("unplaced");
        expect(explanation?.cause).not.toBe("");
        cases++;
        offered += explanation?.suggestions.length === 0 ? 0 : 1;
        for (const suggestion of explanation?.suggestions ?? []) {
          expect(
            refused(applyEdits(problem, suggestion.edits)),
            `${describeDraft(draft)}\n${suggestion.text}`,
          ).not.toContain(first);
        }
      }),
      { numRuns: runs(3_000) },
    );
    if (process.env["LONG"] === "1") console.info(JSON.stringify({ cases, offered }));
  }, 600_000);
});
