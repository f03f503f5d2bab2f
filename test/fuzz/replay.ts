import { drawStory } from "./draw.ts";
import type { Story } from "./story.ts";

/** What can be taken out of a story beside its events. */
export const troubles = ["calls", "cloud", "crashes", "rival", "delays"] as const;
export type Trouble = (typeof troubles)[number];

/** A story, or a part of one: as `--replay` takes it. */
export interface Replay {
  readonly seed: number;
  /** Places of the events that are kept, ascending; all, unless given. */
  readonly steps?: readonly number[] | undefined;
  readonly without: readonly Trouble[];
}

/** `17`, `17:0-3,9`, `17:0,2:calls,crashes`. */
export function parseReplay(text: string): Replay {
  const [seed = "", steps = "", without = ""] = text.split(":");
  if (!/^\d+$/.test(seed)) throw new Error(`--replay ${text}: expected a seed, as in 17 or 17:0-3,9`);
  const left = without.split(",").filter((one) => one !== "");
  return {
    seed: Number(seed),
    ...(steps !== "" && { steps: steps.split(",").flatMap(rangeOf) }),
    without: troubles.filter((trouble) => left.includes(trouble)),
  };
}

export function formatReplay({ seed, steps, without }: Replay): string {
  const parts = [String(seed), steps === undefined ? "" : ranges(steps), without.join(",")];
  return parts.join(":").replace(/:+$/, "");
}

/** The part of its story that is left. */
export function storyOf({ seed, steps, without }: Replay): Story {
  const whole = drawStory(seed);
  const { faults } = whole;
  return {
    ...whole,
    events: steps === undefined ? whole.events : whole.events.filter((_, at) => steps.includes(at)),
    operators: without.includes("rival") ? 1 : whole.operators,
    delivery: without.includes("delays") ? { ...whole.delivery, delays: {} } : whole.delivery,
    faults: {
      calls: without.includes("calls") ? {} : faults.calls,
      cloud: without.includes("cloud") ? {} : faults.cloud,
      crashes: without.includes("crashes") ? 0 : faults.crashes,
    },
  };
}

function rangeOf(text: string): readonly number[] {
  const [first = 0, last = first] = text.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function ranges(steps: readonly number[]): string {
  const found: { first: number; last: number }[] = [];
  for (const step of steps) {
    const open = found.at(-1);
    if (open !== undefined && open.last === step - 1) open.last = step;
    else found.push({ first: step, last: step });
  }
  return found.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
