import { namespacedName } from "../../api/object.ts";
import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { ExistingNodePlacement, PlannedNode } from "../scheduling/decision.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { type DisruptionDecision, type DisruptionMethodName, disruptionMethods } from "./methods.ts";
import type { BalancedScore } from "./verdict.ts";

/** Nodes to disrupt together, and what comes in their place. */
export interface DisruptionCommand {
  readonly method: DisruptionMethodName;
  readonly reason: DisruptionReason;
  readonly decision: DisruptionDecision;
  readonly candidates: readonly DisruptionCandidate[];
  /** Nodes that must be initialized before the candidates are deleted. That of a static pool comes from its template. */
  readonly replacements: readonly PlannedNode[];
  /** Pods that the simulation placed on existing nodes: those are nominated when the command starts. (03:D-74) */
  readonly placements: readonly ExistingNodePlacement[];
  /** Dollars an hour. (03:B-2) */
  readonly savings: number;
  /** Of the Balanced pools it takes nodes from. (03:B-7) */
  readonly scores: readonly BalancedScore[];
}

export interface CommandParts {
  readonly candidates: readonly DisruptionCandidate[];
  readonly replacements?: readonly PlannedNode[];
  readonly placements?: readonly ExistingNodePlacement[];
  readonly scores?: readonly BalancedScore[];
}

export function disruptionCommand(method: DisruptionMethodName, parts: CommandParts): DisruptionCommand {
  const { candidates, replacements = [], placements = [], scores = [] } = parts;
  return {
    method,
    reason: disruptionMethods[method].reason,
    decision: replacements.length > 0 ? "replace" : "delete",
    candidates,
    replacements,
    placements,
    savings: candidatePrice(candidates) - replacementPrice(replacements),
    scores,
  };
}

export function candidatePrice(candidates: readonly DisruptionCandidate[]): number {
  return candidates.reduce((sum, { price }) => sum + price, 0);
}

/** A replacement that nothing can launch, or that has no type yet, counts as free. (03:B-2) */
function replacementPrice(replacements: readonly PlannedNode[]): number {
  return replacements.reduce((sum, { price }) => sum + (Number.isFinite(price) ? price : 0), 0);
}

/** Pods that leave the candidates, and where each goes: a node's name, or the index of a replacement. */
export function movesOf({ candidates, replacements, placements }: DisruptionCommand): readonly PodMove[] {
  const destinations = new Map<string, string | number>();
  for (const { node, pods } of placements) for (const pod of pods) destinations.set(namespacedName(pod.metadata), node);
  for (const [index, { pods }] of replacements.entries()) {
    for (const pod of pods) destinations.set(namespacedName(pod.metadata), index);
  }
  return candidates.flatMap(({ name, reschedulablePods }) =>
    reschedulablePods.map((pod) => {
      const key = namespacedName(pod.metadata);
      return { pod: key, from: name, to: destinations.get(key) };
    }),
  );
}

export interface PodMove {
  readonly pod: string;
  readonly from: string;
  /** A node's name, or the index of a replacement; undefined: it ends, or something holds it. */
  readonly to: string | number | undefined;
}
