import { expect, it } from "vitest";
import { noPause, timeSlicePause } from "./pause.ts";

/** A manual clock, and a counter of turns. */
function world() {
  const state = { now: 100, turns: 0 };
  const turn = async (): Promise<void> => {
    await new Promise(setImmediate);
    state.turns++;
    state.now += 50; // other work takes time
  };
  return { state, pause: timeSlicePause({ sliceMs: 8, resumedPerTurn: 2, now: () => state.now, nextTurn: turn }) };
}

it("continues until its time slice is used up, then pauses", async () => {
  const { state, pause } = world();
  expect(pause()).toBeUndefined();
  state.now += 7;
  expect(pause()).toBeUndefined();
  state.now += 1;
  await pause();
  expect(state.turns).toBe(1);
});

it("starts a new time slice after the turn, without the time of others", async () => {
  const { state, pause } = world();
  state.now += 8;
  await pause();
  expect(pause()).toBeUndefined();
  state.now += 8;
  expect(pause()).toBeInstanceOf(Promise);
});

it("all callers share one time slice", () => {
  const { state, pause } = world();
  state.now += 8;
  expect([pause(), pause()].map((one) => one instanceof Promise)).toEqual([true, true]);
});

it("resumes a few paused callers each turn, in order", async () => {
  const { state, pause } = world();
  state.now += 8;
  const went: string[] = [];
  const work = async (name: string): Promise<void> => {
    await pause();
    went.push(`${name} ${state.turns}`);
    state.now += 8;
    await pause();
    went.push(`${name} ${state.turns}`);
  };
  await Promise.all(["a", "b", "c"].map(work));
  expect(went).toEqual(["a 1", "b 1", "c 2", "a 2", "b 3", "c 3"]);
});

it("noPause never pauses", () => {
  expect(noPause()).toBeUndefined();
});
