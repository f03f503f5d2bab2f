import { expect, it } from "vitest";
import { instanceType } from "../../../test/builders/instance-type.ts";
import { pod } from "../../../test/builders/pod.ts";
import { problem } from "../../../test/builders/problem.ts";
import { stepBudget } from "../../../test/world/step-budget.ts";
import { solve } from "../../core/scheduling/solve.ts";
import { VirtualClock } from "../../util/virtual-clock.ts";
import { noMetrics } from "../metrics/metrics.ts";
import type { OpenWorkBudget } from "../work-budget.ts";
import { PassMetrics } from "./pass-metrics.ts";
import { forEachInSlices } from "./run-in-slices.ts";
import { solveWithinBudget } from "./solve-within-budget.ts";

const asked = problem().types(instanceType("m").cpu(4)).pods(200, pod().cpu("3")).policy({ packing: "plain" }).build();

function within(openBudget: OpenWorkBudget, budgetCount = 1) {
  const clock = new VirtualClock();
  const passMetrics = new PassMetrics({ metrics: noMetrics, clock, controller: "test", id: "1" });
  return solveWithinBudget(asked, { openBudget, budgetCount, passMetrics, clock });
}

/** Lets others work after every step. */
function breathing(steps: number): { readonly openBudget: OpenWorkBudget; pauses: number } {
  const counted = { openBudget, pauses: 0 };
  function openBudget() {
    let left = steps;
    return {
      mayContinue: async () => {
        counted.pauses++;
        return left-- > 0;
      },
    };
  }
  return counted;
}

it("slicing does not change the answer", async () => {
  const breath = breathing(Number.POSITIVE_INFINITY);

  expect(await within(breath.openBudget)).toEqual(solve(asked));
  expect(breath.pauses).toBeGreaterThan(200);
});

it("02:Q-9 a pass whose time is up keeps what it has placed and refuses nobody", async () => {
  const { newNodes, refusals, statistics: passMetrics } = await within(stepBudget(100));

  expect(passMetrics.timedOut).toBe(true);
  expect(newNodes.length).toBeGreaterThan(0);
  expect(newNodes.length).toBeLessThan(100);
  expect(refusals).toEqual([]);
});

it("02:Q-9 a pass that is granted more time gets further", async () => {
  const short = await within(stepBudget(60));
  const longer = await within(stepBudget(60), 3);
  const enough = await within(stepBudget(60), 12);

  expect(longer.newNodes.length).toBeGreaterThan(short.newNodes.length);
  expect(enough).toEqual(solve(asked));
});

it("a budget that is spent ends no walk through many things", async () => {
  const seen: number[] = [];
  const things = Array.from({ length: 1_000 }, (_, index) => index);

  await forEachInSlices(things, { budget: breathing(1).openBudget(), visit: (thing) => seen.push(thing) });

  expect(seen).toEqual(things);
});
