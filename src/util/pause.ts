/**
 * Called between two pieces of work. Returns a promise when the work has used up its time slice: await it, so that
 * other work gets a turn. (docs/designs/engine.md)
 */
export type Pause = () => Promise<void> | undefined;

/** Never pauses: for simulations on a virtual clock. */
export const noPause: Pause = () => undefined;

export interface PauseOptions {
  /** How long work may run before it pauses. */
  readonly sliceMs?: number;
  /** How many paused tasks resume per turn; many at once would make the turn long. */
  readonly resumedPerTurn?: number;
  readonly now: () => number;
  /** Resolves after one turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

/**
 * Pauses by real time. Share one instance per process: all callers share the time slice, and paused ones resume in
 * order, a few per turn.
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
