import type { DisruptionMethodName } from "../../core/disruption/methods.ts";
import type { SearchBudget } from "../../core/disruption/simulator.ts";
import type { Clock } from "../../util/clock.ts";

/** The stop signal of one search. */
export type OpenSearch = (method: DisruptionMethodName) => SearchBudget;

/** How long each method may search. (03:D-52, D-55) */
const limitsMs: Readonly<Record<DisruptionMethodName, number>> = {
  emptiness: Number.POSITIVE_INFINITY,
  "static-drift": Number.POSITIVE_INFINITY,
  drift: 3 * 60_000,
  "multi-node-consolidation": 60_000,
  "single-node-consolidation": 3 * 60_000,
};

/** Searches end by the clock. */
export function clockSearch(clock: Clock): OpenSearch {
  return (method) => {
    const endAt = clock.now() + limitsMs[method];
    return { mayContinue: () => clock.now() < endAt };
  };
}
