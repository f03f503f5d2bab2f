import { labels } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { Requirements } from "../requirements.ts";
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

/** Dollars an hour, unless the price of a node that goes or comes is not known. */
export function knownSavings({ candidates, replacements, savings }: DisruptionCommand): number | undefined {
  const prices = [...candidates, ...replacements].map(({ price }) => price);
  return prices.every((price) => Number.isFinite(price) && price > 0) ? savings : undefined;
}

/** What a command does to the price: `saves $0.1000/hour`. */
export function priceChangeText(savings: number | undefined): string {
  if (savings === undefined) return "changes the price by an unknown amount";
  const amount = `$${Math.abs(savings).toFixed(4)}/hour`;
  if (amount === "$0.0000/hour") return "costs the same";
  return savings > 0 ? `saves ${amount}` : `costs ${amount} more`;
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

/** The one a launch tries first. */
export function firstCapacityType(requirements: Requirements): string {
  const allowed = requirements.get(labels.capacityType);
  return ["reserved", "spot", "on-demand"].find((type) => allowed.has(type)) ?? "";
}
