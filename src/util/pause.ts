/**
 * Asked between two pieces of work. A promise means that there was enough of it for now: wait for it, and others have
 * had a turn. (design §3)
 */
export type Pause = () => Promise<void> | undefined;

/** Works on: for the simulated world, where nobody waits for the event loop. */
export const noPause: Pause = () => undefined;

export interface PauseOptions {
  /** How long to work before others get a turn. */
  readonly sliceMs?: number;
  /** How many of those who rest go on each turn: many with little to do would make a long turn together. */
  readonly atOnce?: number;
  readonly now: () => number;
  /** Resolves after everybody who waited has had a turn of the event loop. */
  readonly turn: () => Promise<void>;
}

/**
 * Pauses by real time. One for all who work in a process: together they must not keep others waiting, so that of those
 * who rest a few go on each turn, in the order they came, and share a slice.
 */
export function pausing({ sliceMs = 8, atOnce = 8, now, turn }: PauseOptions): Pause {
  const resting: (() => void)[] = [];
  let begunAt = now();
  const takeTurns = async (): Promise<void> => {
    while (resting.length > 0) {
      await turn();
      begunAt = now();
      for (const goOn of resting.splice(0, atOnce)) goOn();
    }
  };
  const rest = (): Promise<void> =>
    new Promise((resolve) => {
      resting.push(resolve);
      if (resting.length === 1) void takeTurns();
    });
  return () => (now() - begunAt < sliceMs ? undefined : rest());
}
