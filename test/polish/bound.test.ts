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

  it("merges offers that are nearly alike into one that is as good as each: at most a twentieth lower", async () => {
    const near = fc.record({ cpu: fc.integer({ min: 40, max: 48 }), memoryGi: fc.integer({ min: 40, max: 48 }) });
    const prices = fc.integer({ min: 100, max: 110 });
    const drafts = fc.array(fc.tuple(near, prices), { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(drafts, fc.integer({ min: 1, max: 200 }), async (drawn, count) => {
        const types = drawn.map(([{ cpu, memoryGi }, price], at) =>
          instanceType(`t${at}`)
            .cpu(cpu)
            .memory(`${memoryGi}Gi`)
            .resource("pods", "1000")
            .price(price / 100),
        );
        const one = pod().cpu("1").memory("1Gi").on("capacity-type", "on-demand");
        const asked = problem()
          .types(...types)
          .pods(count, one)
          .build();
        // All pods are alike, so each goes where its share of the scarcer resource is cheapest.
        const each = drawn.map(([{ cpu, memoryGi }, price]) => price / 100 / Math.min(cpu, memoryGi));
        const exact = count * Math.min(...each);
        const found = await lowerBound(asked, { solveLp });
        expect(found).toBeLessThanOrEqual(exact + 1e-9);
        expect(found).toBeGreaterThanOrEqual((exact / 1.05) * (1 - 1e-5) - 1e-5 * count);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("does not merge offers that differ in price, in what they give for it, or in whom they take", async () => {
    const one = pod().cpu("1").memory("1Gi").on("capacity-type", "on-demand");
    const bound = (...types: readonly ReturnType<typeof instanceType>[]) =>
      lowerBound(
        problem()
          .types(...types)
          .pods(40, one)
          .build(),
        { solveLp },
      );
    const wide = instanceType("wide").cpu(40).memory("20Gi").resource("pods", "1000").price(1);
    const tall = instanceType("tall").cpu(20).memory("40Gi").resource("pods", "1000").price(1);
    // Fractions of a node are filled with pods that are alike: half of each node stays unused.
    expect(await bound(wide, tall)).toBeCloseTo(2, 3);
    const double = instanceType("double").cpu(80).memory("80Gi").resource("pods", "1000").price(2.2);
    expect(
      await bound(double, instanceType("single").cpu(40).memory("40Gi").resource("pods", "1000").price(1.05)),
    ).toBeCloseTo(1.05, 3);
  });

  it("is infinite where a pod fits nothing", async () => {
    const asked = problem().pods(1, pod().cpu("500")).build();
    expect(await lowerBound(asked, { solveLp })).toBe(Number.POSITIVE_INFINITY);
  });
});

function polished(asked: SchedulingProblem): SchedulingProblem {
  return { ...asked, policy: { ...asked.policy, packing: "polished" } };
}
