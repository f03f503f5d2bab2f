import type { Steps } from "../../util/steps.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { consolidate, type FoundCommand } from "./consolidate.ts";
import type { MethodInput } from "./method.ts";

/** Fewer nodes than this are left to the search for prefixes. */
const leastNodes = 3;

/**
 * The prefix of the candidates that saves the most when several new nodes may replace them: the longest, and then each
 * half as long as the one before. That a short prefix saves nothing says little about a longer one, so a binary search
 * does not find them. Undefined if none saves more than what was found before. (03:D-46b, D-51)
 */
export function* largerSet(
  candidates: readonly DisruptionCandidate[],
  before: { readonly savings: number } | undefined,
  input: MethodInput,
): Steps<FoundCommand | undefined> {
  let best: FoundCommand | undefined;
  for (let count = candidates.length; count >= leastNodes; count = Math.floor(count / 2)) {
    if (!input.searchBudget.mayContinue()) break;
    const result = yield* consolidate("multi-node-consolidation", candidates.slice(0, count), input);
    const least = best?.command.savings ?? before?.savings ?? 0;
    if (result.kind === "command" && result.command.savings > least) best = result;
  }
  return best;
}
