import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { solve } from "../../src/core/scheduling/solve.ts";
import { runs } from "../runs.ts";
import { problemDraft } from "./arbitrary.ts";
import { buildProblem, describeDraft, type ProblemDraft } from "./draft.ts";
import { found } from "./found.ts";
import { readable } from "./readable.ts";
import { solveSlowly } from "./solve.ts";

describe("the solver and its twin", () => {
  it.each(found)("$title", ({ draft }) => agree(draft));

  it("02 §5 decide alike on random problems", () => {
    fc.assert(fc.property(problemDraft, agree), { numRuns: runs(5_000) });
  }, 600_000);
});

function agree(draft: ProblemDraft): void {
  const problem = buildProblem(draft);
  const expected = readable(solveSlowly(problem));
  expect(readable(solve(problem)), describeDraft(draft)).toEqual(expected);
}
