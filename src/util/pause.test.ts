import { expect, it } from "vitest";
import { noPause, timeSlicePause } from "./pause.ts";

/** Time that passes when told, and turns that are counted. */
function world() {
  const state = { now: 100, turns: 0 };
  const turn = async (): Promise<void> => {
    await new Promise(setImmediate);
    state.turns++;
    state.now += 50; // others take their time
  };
  return { state, pause: timeSlicePause({ sliceMs: 8, resumedPerTurn: 2, now: () => state.now, nextTurn: turn }) };
}

it("works on until its slice is used up, then lets others have a turn", async () => {
  const { state, pause } = world();
  expect(pause()).toBeUndefined();
  state.now += 7;
  expect(pause()).toBeUndefined();
  state.now += 1;
  await pause();
  expect(state.turns).toBe(1);
});

it("begins a new slice after the turn: the time of others is not its own", async () => {
  const { state, pause } = world();
  state.now += 8;
  await pause();
  expect(pause()).toBeUndefined();
  state.now += 8;
  expect(pause()).toBeInstanceOf(Promise);
});

it("those who share it have one slice together", () => {
  const { state, pause } = world();
  state.now += 8;
  expect([pause(), pause()].map((one) => one instanceof Promise)).toEqual([true, true]);
});

it("of those who rest a few go on each turn, in the order they came", async () => {
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

it("never pauses where nobody waits", () => {
  expect(noPause()).toBeUndefined();
});
