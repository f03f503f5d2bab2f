import type { KubeObject } from "../../src/api/object.ts";
import { difference, type Outcome } from "./outcome.ts";
import { plannedOutcome } from "./plan-outcome.ts";
import { type PlayOptions, playedOutcome } from "./play.ts";

/** Of plans that are tried where the first differs: what is drawn from a seed may come otherwise in a cluster. */
const planSeeds = 24;

export interface CompareOptions extends PlayOptions {
  /** More options of `plan`. */
  readonly args?: readonly string[];
}

/** Plays an input in the simulated world; says what differs from its plan, if anything. */
export async function differenceFromPlans(
  objects: readonly KubeObject[],
  { args = [], ...options }: CompareOptions,
): Promise<string | undefined> {
  const played = await playedOutcome(objects, options);
  const planOf = (seed: number): Promise<Outcome> =>
    plannedOutcome(objects, { args: ["--now", "2026-01-01T00:00:00Z", "--seed", String(seed), ...args] });
  const first = await planOf(0);
  if (difference([first], played) === undefined) return undefined;
  const plans = [first];
  for (let seed = 1; seed < planSeeds; seed++) plans.push(await planOf(seed));
  return difference(plans, played);
}
