/**
 * Work that can be put down between any two of its steps. Every step is short, and the result does not depend on what
 * happens in between.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** Takes all steps at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const turn = steps.next();
    if (turn.done === true) return turn.value;
  }
}

/** Items a step handles where each takes microseconds: well below a millisecond, and few enough steps not to matter. */
const itemsPerStep = 64;

/** Does something with every item, a few a step. */
export function* forEachInSteps<T>(items: Iterable<T>, act: (item: T, index: number) => void): Steps<void> {
  let index = 0;
  for (const item of items) {
    act(item, index++);
    if (index % itemsPerStep === 0) yield;
  }
}

/** `map`, a few a step. */
export function* mapInSteps<T, U>(items: Iterable<T>, make: (item: T, index: number) => U): Steps<U[]> {
  const made: U[] = [];
  yield* forEachInSteps(items, (item, index) => {
    made.push(make(item, index));
  });
  return made;
}

/** Lists as long as this are sorted in one go. */
const runLength = 256;

/** `toSorted` in steps, and stable like it: short runs first, then merged two by two. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let sorted: T[] = [];
  for (let from = 0; from < items.length; from += runLength) {
    for (const item of items.slice(from, from + runLength).sort(compare)) sorted.push(item);
    yield;
  }
  for (let length = runLength; length < sorted.length; length *= 2) sorted = yield* mergeRuns(sorted, length, compare);
  return sorted;
}

/** Runs of one length made to runs of twice that. */
function* mergeRuns<T>(runs: readonly T[], length: number, compare: (a: T, b: T) => number): Steps<T[]> {
  const result: T[] = [];
  for (let from = 0; from < runs.length; from += 2 * length) {
    const middle = Math.min(from + length, runs.length);
    const end = Math.min(middle + length, runs.length);
    let left = from;
    let right = middle;
    while (result.length < end) {
      // The left one wins ties: it came first.
      const takesLeft = right >= end || (left < middle && compare(runs[left] as T, runs[right] as T) <= 0);
      result.push(runs[takesLeft ? left++ : right++] as T);
      if (result.length % runLength === 0) yield;
    }
  }
  return result;
}
