import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Steps } from "../../util/steps.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { DisruptionCommand } from "./command.ts";
import type { SearchBudget } from "./simulator.ts";

/** How many nodes are tried to be left out of a command one by one. */
const maxTries = 8;
/** Prices are sums of floating-point numbers. */
const epsilon = 1e-9;

export interface SparingOptions<Found> {
  readonly searchBudget?: SearchBudget | undefined;
  /** What is found for fewer nodes; undefined if nothing comes of them. */
  readonly retry: (candidates: readonly DisruptionCandidate[]) => Steps<Found | undefined>;
}

/**
 * The command without nodes that would only come back as they were: a node whose type a replacement may have stays, if
 * the others save as much without it. With one replacement 03:D-53 sees to that by price alone, which also refuses what
 * only an exchange of pods between nodes of one type can save. (03:D-46b)
 */
export function* withoutSpared<Found extends { readonly command: DisruptionCommand }>(
  found: Found,
  { searchBudget, retry }: SparingOptions<Found>,
): Steps<Found> {
  let best = found;
  const { candidates, replacements } = found.command;
  if (candidates.length === 1 || replacements.length === 0) return best;
  const types = new Set(replacements.flatMap(({ instanceTypes }) => instanceTypes));
  const alike = candidates
    .filter(({ instanceType }) => instanceType !== undefined && types.has(instanceType))
    .sort((a, b) => b.disruptionCost - a.disruptionCost || (a.name < b.name ? -1 : 1));
  const unchanged = unchangedNodes(alike, replacements);
  const attempts = [...(unchanged.length > 1 ? [unchanged] : []), ...alike.slice(0, maxTries).map((one) => [one])];
  for (const attempt of attempts) {
    const spared = new Set(attempt);
    const others = best.command.candidates.filter((one) => !spared.has(one));
    if (others.length === 0 || others.length === best.command.candidates.length) continue;
    if (searchBudget?.mayContinue() === false) break;
    const result = yield* retry(others);
    if (result !== undefined && result.command.savings > best.command.savings - epsilon) best = result;
  }
  return best;
}

/** Nodes whose pods, or pods like them, are all together again on a replacement of their type. */
function unchangedNodes(
  candidates: readonly DisruptionCandidate[],
  replacements: readonly PlannedNode[],
): readonly DisruptionCandidate[] {
  const left = replacements.map(({ instanceTypes, pods }) => ({
    types: new Set(instanceTypes),
    counts: countsOf(pods),
  }));
  return candidates.filter(({ instanceType, reschedulablePods }) => {
    const own = countsOf(reschedulablePods);
    const at = left.findIndex(
      ({ types, counts }) =>
        instanceType !== undefined &&
        types.has(instanceType) &&
        [...own].every(([key, count]) => (counts.get(key) ?? 0) >= count),
    );
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** Pods by what they look like; a simulation decides, so that a rough idea is enough. */
function countsOf(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    const key = JSON.stringify([metadata.labels, spec.containers?.map(({ resources }) => resources?.requests)]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
