import { describe, expect, it } from "vitest";
import { wallClockBudget } from "./wall-clock-budget.ts";

/** A clock that moves by `stepMs` with every look, and says how often others got a turn. */
function bench({ totalMs, stepMs }: { readonly totalMs: number; readonly stepMs: number }) {
  let time = 0;
  let turns = 0;
  const budgets = wallClockBudget({
    totalMs,
    sliceMs: 8,
    now: () => time,
    yieldToEventLoop: async () => {
      turns += 1;
      time += 3; // what others did meanwhile
    },
  });
  const run = async (): Promise<number> => {
    const budget = budgets();
    let steps = 0;
    while (await budget.mayContinue()) {
      steps += 1;
      time += stepMs;
    }
    return steps;
  };
  return { run, turns: () => turns, time: () => time };
}

describe("a wall-clock budget", () => {
  it("yields after every slice", async () => {
    const { run, turns } = bench({ totalMs: 100, stepMs: 2 });
    expect(await run()).toBe(37); // nine slices of four steps and the waits between them
    expect(turns()).toBe(9);
  });

  it("says no without a promise once the time is used up", async () => {
    const { run, time } = bench({ totalMs: 5, stepMs: 2 });
    expect(await run()).toBe(3);
    expect(time()).toBe(6);
  });

  it("counts the time it yielded, and starts anew with every search", async () => {
    const { run, time } = bench({ totalMs: 20, stepMs: 4 });
    expect(await run()).toBe(4);
    const between = time();
    expect(await run()).toBe(4);
    expect(time() - between).toBe(between);
  });

  it("continues within a slice without a promise", () => {
    const budget = wallClockBudget({ totalMs: 10, now: () => 0, yieldToEventLoop: async () => {} })();
    expect(budget.mayContinue()).toBe(true);
  });
});
