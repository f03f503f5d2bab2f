/**
 * A pool has at most this many claims that are not launched yet, so the cloud sets the pace and a pool of a hundred
 * million replicas does not fill the memory at once.
 */
const maxUnlaunched = 1_000;
const minUnlaunched = 10;

/** How many claims of a pool have an instance, and how many do not. */
export interface LaunchCounts {
  readonly launched: number;
  readonly unlaunched: number;
}

/** How a pool's claims fared, after the last ones were created. */
export interface LaunchPace extends LaunchCounts {
  /** How many claims may be without an instance. */
  readonly window: number;
  /** More claims failed than were launched: the cloud has no more, and asking without a pause would be in vain. */
  readonly isHeldUp: boolean;
}

/**
 * How many claims may be without an instance now: a thousand; where claims fail, twice as many as were launched
 * meanwhile; from there it doubles while they are launched. (03:SP-3)
 */
export function nextLaunchPace(last: LaunchPace | undefined, now: LaunchCounts): LaunchPace {
  if (last === undefined) return { ...now, window: maxUnlaunched, isHeldUp: false };
  const launched = Math.max(0, now.launched - last.launched);
  const failed = last.unlaunched - now.unlaunched - launched;
  if (failed > launched) return { ...now, window: Math.max(minUnlaunched, 2 * launched), isHeldUp: true };
  const window = launched > 0 ? Math.min(maxUnlaunched, 2 * last.window) : last.window;
  return { ...now, window, isHeldUp: false };
}
