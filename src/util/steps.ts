import type { Pause } from "./pause.ts";

/** Work as a generator: it yields between short steps, and the result does not depend on what happens in between. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const turn = steps.next();
    if (turn.done === true) return turn.value;
  }
}

/** Runs all steps and lets others have a turn in between. */
export async function runStepsWithPauses<Result>(steps: Steps<Result>, pause: Pause): Promise<Result> {
  for (;;) {
    const turn = steps.next();
    if (turn.done === true) return turn.value;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
}

/** Items in a step, where each takes microseconds: well below a millisecond, without too many steps. */
const itemsPerStep = 64;

/** forEach, 64 items a step. */
export function* forEachInSteps<T>(items: Iterable<T>, act: (item: T, index: number) => void): Steps<void> {
  let index = 0;
  for (const item of items) {
    act(item, index++);
    if (index % itemsPerStep === 0) yield;
  }
}

/** `map`, 64 items a step. */
export function* mapInSteps<T, U>(items: Iterable<T>, make: (item: T, index: number) => U): Steps<U[]> {
  const made: U[] = [];
  yield* forEachInSteps(items, (item, index) => {
    made.push(make(item, index));
  });
  return made;
}

/** Lists of this length are sorted in one step. */
const runLength = 256;

/** `toSorted` in steps, also stable: short runs are sorted, then merged in pairs. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let sorted: T[] = [];
  for (let from = 0; from < items.length; from += runLength) {
    for (const item of items.slice(from, from + runLength).sort(compare)) sorted.push(item);
    yield;
  }
  for (let length = runLength; length < sorted.length; length *= 2) sorted = yield* mergeRuns(sorted, length, compare);
  return sorted;
}

/** Merges sorted runs in pairs. */
function* mergeRuns<T>(runs: readonly T[], length: number, compare: (a: T, b: T) => number): Steps<T[]> {
  const result: T[] = [];
  for (let from = 0; from < runs.length; from += 2 * length) {
    const middle = Math.min(from + length, runs.length);
    const end = Math.min(middle + length, runs.length);
    let left = from;
    let right = middle;
    while (result.length < end) {
      // At a tie the left one goes first, to be stable.
      const takesLeft = right >= end || (left < middle && compare(runs[left] as T, runs[right] as T) <= 0);
      result.push(runs[takesLeft ? left++ : right++] as T);
      if (result.length % runLength === 0) yield;
    }
  }
  return result;
}
