import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../../src/core/scheduling/decision.ts";
import { openPass } from "../../src/core/scheduling/open-pass.ts";
import type { Pass } from "../../src/core/scheduling/pass-state.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve, solveInSteps } from "../../src/core/scheduling/solve.ts";
import { runSteps } from "../../src/util/steps.ts";
import { runs } from "../runs.ts";
import { problemDraft } from "../twin/arbitrary.ts";
import { buildProblem } from "../twin/draft.ts";

/** A pass that has placed some of the pods. */
function passOf(problem: SchedulingProblem): Pass {
  let opened: Pass | undefined;
  runSteps(
    solveInSteps(problem, {
      onPassOpened: (pass) => {
        opened = pass;
        return undefined;
      },
    }),
  );
  return opened as Pass;
}

/** Without how much work it was. */
function decided({ statistics: _, ...decision }: Decision): unknown {
  return JSON.parse(
    JSON.stringify(decision, (key, value) =>
      typeof value === "bigint" ? String(value) : key === "requirements" ? String(value) : value,
    ),
  );
}

describe("a pass after another", () => {
  it("02 §10.3-4 decides as if it were the first", () => {
    fc.assert(
      fc.property(problemDraft, fc.nat(), (draft, cut) => {
        const problem = buildProblem(draft);
        const some = problem.pods.slice(0, cut % (problem.pods.length + 1));
        const earlier = passOf({ ...problem, pods: some, nodes: [] });
        expect(decided(runSteps(solveInSteps(problem, { earlier })))).toEqual(decided(solve(problem)));
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("02 §10.3-4 reads the same instance types once", () => {
    const [draft] = fc.sample(problemDraft, { numRuns: 1, seed: 7 });
    if (draft === undefined) throw new Error("nothing was drawn");
    const problem = buildProblem(draft);
    const earlier = passOf(problem);
    const next = runSteps(openPass(problem, { earlier }));
    expect(next.poolTemplates.map(({ typeTable }) => typeTable)).toEqual(
      earlier.poolTemplates.map(({ typeTable }) => typeTable),
    );
    expect(next.table).toBe(earlier.table);
  });
});
