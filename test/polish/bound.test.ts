import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { lpSolver } from "../../src/cli/lp-solver.ts";
import type { SolveLp } from "../../src/core/bound/linear-program.ts";
import { lowerBound } from "../../src/core/bound/lower-bound.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { instanceType } from "../builders/instance-type.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { runs } from "../runs.ts";
import { buildProblem, describeDraft } from "../twin/draft.ts";
import { busyDraft } from "./arbitrary.ts";

let solveLp: SolveLp;
beforeAll(async () => {
  solveLp = await lpSolver();
});

describe("the lower bound", () => {
  it("is never above the price of a plan for the same pods", async () => {
    await fc.assert(
      fc.asyncProperty(busyDraft, async (draft) => {
        const asked = polished(buildProblem(draft));
        const { newNodes, refusals } = solve(asked);
        const refused = new Set(refusals.map(({ pod: one }) => one));
        const pods = asked.pods.filter((one) => !refused.has(one));
        const price = newNodes.reduce((sum, node) => sum + node.price, 0);
        expect(await lowerBound(asked, { solveLp, pods }), describeDraft(draft)).toBeLessThanOrEqual(price + 1e-9);
      }),
      { numRuns: runs(2_000) },
    );
  }, 600_000);

  it("is what fractions of the best value for money cost", async () => {
    const small = instanceType("small").cpu(2).price(0.6);
    const large = instanceType("large").cpu(8).price(2).memory("64Gi");
    const asked = problem().types(small, large).pods(6, pod().cpu("1").on("capacity-type", "on-demand")).build();
    expect(await lowerBound(asked, { solveLp })).toBeCloseTo(1.5, 4);
  });

  it("knows that pods which keep apart need a node each", async () => {
    const asked = problem()
      .types(instanceType("small").cpu(2).price(0.6), instanceType("large").cpu(8).price(2))
      .pods(6, pod().cpu("1").label("app", "x").apart("host", { app: "x" }).on("capacity-type", "on-demand"))
      .build();
    expect(await lowerBound(asked, { solveLp })).toBeCloseTo(3.6, 4);
  });

  it("is infinite where a pod fits nothing", async () => {
    const asked = problem().pods(1, pod().cpu("500")).build();
    expect(await lowerBound(asked, { solveLp })).toBe(Number.POSITIVE_INFINITY);
  });
});

function polished(asked: SchedulingProblem): SchedulingProblem {
  return { ...asked, policy: { ...asked.policy, packing: "polished" } };
}
