import { drawStory } from "./draw.ts";
import { type Replay, troubles } from "./replay.ts";

export interface ShrinkOptions {
  /** Whether what is left still goes wrong in the same way. */
  readonly fails: (replay: Replay) => Promise<boolean>;
  /** After so many tries what there is has to do. */
  readonly mostTries: number;
  /** Whether there is time for another. */
  readonly goesOn: () => boolean;
}

/** The least of a failing story that still fails: fewer kinds of trouble, then fewer events, by halves and smaller. */
export async function shrink(failing: Replay, { fails, mostTries, goesOn }: ShrinkOptions): Promise<Replay> {
  let tries = 0;
  let least: Replay = { ...failing, steps: failing.steps ?? [...drawStory(failing.seed).events.keys()] };
  const attempt = async (smaller: Replay): Promise<boolean> => {
    if (++tries > mostTries || !goesOn() || !(await fails(smaller))) return false;
    least = smaller;
    return true;
  };
  for (const trouble of troubles) await attempt({ ...least, without: [...least.without, trouble] });
  for (let size = Math.ceil(stepsOf(least).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < stepsOf(least).length; ) {
      const steps = stepsOf(least);
      const isGone = await attempt({ ...least, steps: [...steps.slice(0, from), ...steps.slice(from + size)] });
      if (!isGone) from += size;
    }
  }
  return least;
}

function stepsOf({ steps = [] }: Replay): readonly number[] {
  return steps;
}
