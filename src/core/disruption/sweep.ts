import type { Steps } from "../../util/steps.ts";
import { type DisruptionCandidate, verdictOn } from "./candidate.ts";
import type { MethodInput, SearchPosition } from "./method.ts";
import type { NodeVerdict } from "./verdict.ts";

/** The first command of a sweep is mostly found among as many nodes. */
export const expectedTries = 64;

/** Nodes the last sweep did not reach come first, in its order, so that every node has its turn. */
export function afterResume(
  ordered: readonly DisruptionCandidate[],
  resume: SearchPosition | undefined,
): readonly DisruptionCandidate[] {
  if (resume?.kind !== "sweep" || resume.unreached.length === 0) return ordered;
  const byName = new Map(ordered.map((one) => [one.name, one]));
  const first = resume.unreached.flatMap((name) => byName.get(name) ?? []);
  const taken = new Set(first);
  return [...first, ...ordered.filter((one) => !taken.has(one))];
}

/** The rest of a sweep that stops here. */
export function notReached(
  rest: readonly DisruptionCandidate[],
  because: "search-budget" | "command-found",
): { readonly verdicts: readonly NodeVerdict[]; readonly stoppedAt: SearchPosition } {
  return {
    verdicts: rest.map((candidate) => verdictOn(candidate, { code: "not-reached", because })),
    stoppedAt: {
      kind: "sweep",
      unreached: rest.map(({ name }) => name),
      unreachedPools: [...new Set(rest.map(({ pool }) => pool.name))],
    },
  };
}

/**
 * Nodes that pods which are pending, or on their way out of other nodes, are to go to and count on. Most of these pods
 * are placed anew in a simulation without the node; where topology has counted them, the node has to stay for now.
 */
export function* destinationsOfOthers({ simulator, snapshot }: MethodInput): Steps<Set<string>> {
  const { pendingPods, cluster } = snapshot;
  const hasOthers = pendingPods.length > 0 || cluster.nodes.some(({ isBeingDeleted }) => isBeingDeleted);
  if (!hasOthers || simulator.base === undefined) return new Set();
  const base = yield* simulator.base({ isConsolidation: true });
  return new Set(base?.destinations);
}
