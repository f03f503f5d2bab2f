import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { namespacedName } from "../../src/api/object.ts";
import { applyEdits } from "../../src/core/explain/edit.ts";
import { explainPod } from "../../src/core/explain/explain-pod.ts";
import { podProblems } from "../../src/core/pod-validation.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { type PodBuilder, pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { runs } from "../runs.ts";
import { causes, unplaceable, victimKey } from "./unplaceable.ts";

function isPlaced(problem: SchedulingProblem): boolean {
  return !solve(problem).refusals.some(({ pod }) => namespacedName(pod.metadata) === victimKey);
}

function victimProblems(problem: SchedulingProblem): readonly string[] {
  const victim = problem.pods.find(({ metadata }) => namespacedName(metadata) === victimKey);
  return victim === undefined ? [] : podProblems(victim, problem).map(({ text }) => text);
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
        fc.property(unplaceable(cause), ({ problem: asked }) => {
          fc.pre(!isPlaced(asked));
          const explanation = explainPod(asked, victimKey);
          expect(explanation?.outcome.kind).toBe("unplaced");
          const suggestions = [...(explanation?.suggestions ?? []), ...(explanation?.lastResorts ?? [])];
          // Where only the data could be moved, nothing is offered.
          const hasVolumes = asked.pods.some(({ spec }) => (spec.volumes ?? []).length > 0);
          if (!hasVolumes) share.cases++;
          if (!hasVolumes && suggestions.length > 0) share.offered++;
          for (const suggestion of suggestions) {
            const changed = applyEdits(asked, suggestion.edits);
            expect(isPlaced(changed), suggestion.text).toBe(true);
            // A round takes pods that are valid only, so a change that makes one invalid places nothing.
            const before = new Set(victimProblems(asked));
            expect(
              victimProblems(changed).filter((text) => !before.has(text)),
              suggestion.text,
            ).toEqual([]);
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

describe("suggestions for pods that are not valid", () => {
  const flaws: readonly ((draft: PodBuilder) => PodBuilder)[] = [
    (draft) => draft.on("karpenter.sh/own", "x"),
    (draft) => draft.on("capacity-type", "cheap"),
    (draft) => draft.volume("nowhere"),
    (draft) => draft.volume("half-bound"),
  ];
  const volumes = [{ claim: "half-bound" }];

  it("02 §1.5 02:V-4 02:V-5 leave the pod valid, however much is wrong with it", () => {
    fc.assert(
      fc.property(fc.subarray([...flaws], { minLength: 1 }), (drawn) => {
        const victim = drawn.reduce((draft, flaw) => flaw(draft), pod().named("victim").cpu("1"));
        const whole = problem()
          .volumes(...volumes)
          .pod(victim)
          .build();
        const [invalid] = whole.pods;
        if (invalid === undefined) throw new Error("the problem has a pod");
        const ignored = [{ pod: invalid, code: "invalid-pod", message: "", pools: [] }] as const;
        expect(victimProblems(whole)).not.toEqual([]);
        const { suggestions = [] } = explainPod({ ...whole, pods: [] }, victimKey, { ignored }) ?? {};
        for (const { edits, text } of suggestions) {
          expect(victimProblems(applyEdits(whole, edits)), text).toEqual([]);
          expect(isPlaced(applyEdits(whole, edits)), text).toBe(true);
        }
        // What the pod says can be taken back; a claim has to be made by somebody.
        if (!drawn.some((flaw) => flaws.indexOf(flaw) >= 2)) expect(suggestions).not.toEqual([]);
      }),
      { numRuns: runs(3_000) },
    );
  });
});
