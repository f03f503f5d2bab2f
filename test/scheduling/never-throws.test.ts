import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/kubernetes/pod.ts";
import type { Decision } from "../../src/core/scheduling/decision.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { node } from "../builders/node.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { runs } from "../runs.ts";
import { problemDraft } from "../twin/arbitrary.ts";
import { buildProblem, describeDraft } from "../twin/draft.ts";
import { absurdities, someAbsurdities, withZones } from "./absurd.ts";
import { web } from "./solved.ts";

/** Every pod is placed once or refused once, with a reason. */
function answersAll(built: SchedulingProblem, decision: Decision): void {
  const { placements, newNodes, refusals } = decision;
  const answered = [...placements, ...newNodes].flatMap(({ pods }) => pods).concat(refusals.map((one) => one.pod));
  expect(uids(answered)).toEqual(uids(built.pods));
  for (const { message } of refusals) expect(message).not.toBe("");
}

/** Pods as they are, in one order. */
function uids(pods: readonly Pod[]): readonly string[] {
  return pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}/${metadata.uid}`).sort();
}

describe("the solver never throws", () => {
  it("02:Q-51 and answers for every pod once, on random problems, sane and absurd", () => {
    fc.assert(
      fc.property(problemDraft, someAbsurdities, (draft, oddities) => {
        const built = oddities.reduce((one, { apply }) => apply(one), buildProblem(draft));
        const told = `${oddities.map(({ name }) => name).join(", ")}\n${describeDraft(draft)}`;
        try {
          answersAll(built, solve(built));
        } catch (error) {
          throw new Error(told, { cause: error });
        }
      }),
      { numRuns: runs(10_000) },
    );
  }, 600_000);

  const busy = problem()
    .nodes(node("n1").running(web.apart("zone")), node("n2").zone("b"))
    .daemons(pod().cpu("100m").hostPort(80))
    .pods(3, web.spread("zone").spread("host"))
    .pods(2, web.near("zone").apart("host"))
    .pod(web.cpu("3").hostPort(80), web.prefers(1, ["zone", "In", "a"]))
    .build();
  it.each(absurdities.map((one) => [one.name, one] as const))("02 §5 on %s", (_, { apply }) => {
    const built = apply(busy);
    answersAll(built, solve(built));
  });

  it("02 §5 on ten thousand zones", () => {
    const built = withZones(
      problem().pods(5, web.spread("zone")).pods(3, web.near("zone")).pods(3, web.apart("zone")).build(),
      10_000,
    );
    answersAll(built, solve(built));
  });
});
