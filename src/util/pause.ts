/**
 * Asked between two pieces of work. A promise means that there was enough of it for now: wait for it, and others have
 * had a turn. (docs/designs/engine.md)
 */
export type Pause = () => Promise<void> | undefined;

/** Works on: for the simulated world, where nobody waits for the event loop. */
export const noPause: Pause = () => undefined;

export interface PauseOptions {
  /** How long to work before others get a turn. */
  readonly sliceMs?: number;
  /** How many of those who rest go on each turn: many with little to do would make a long turn together. */
  readonly resumedPerTurn?: number;
  readonly now: () => number;
  /** Resolves after everybody who waited has had a turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

/**
 * Pauses by real time. One for all who work in a process: together they must not keep others waiting, so that of those
 * who rest a few go on each turn, in the order they came, and share a slice.
 */
export function timeSlicePause({ sliceMs = 8, resumedPerTurn = 8, now, nextTurn }: PauseOptions): Pause {
  const waiting: (() => void)[] = [];
  let sliceStartedAt = now();
  const resumeWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      await nextTurn();
      sliceStartedAt = now();
      for (const resume of waiting.splice(0, resumedPerTurn)) resume();
    }
  };
  const wait = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) void resumeWaiting();
    });
  return () => (now() - sliceStartedAt < sliceMs ? undefined : wait());
}
