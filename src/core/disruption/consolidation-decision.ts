import { labels } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { candidatePrice } from "./command.ts";
import { cheaperThan, launchableTypes, pinnedToSpot, sameTypeLimit, withTypes } from "./price-filters.ts";
import { areCheaperTogether, dividedPrice } from "./price-limits.ts";
import type { DisruptionSimulation } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { DecisionCause } from "./verdict.ts";

/** What comes of removing nodes to save money. */
export type ConsolidationOutcome =
  | { readonly kind: "delete" }
  | { readonly kind: "replace"; readonly replacements: readonly PlannedNode[] }
  | { readonly kind: "none"; readonly cause: DecisionCause };

/** What becomes of one new node. */
type ReplacementOutcome =
  | { readonly kind: "replace"; readonly replacement: PlannedNode }
  | { readonly kind: "none"; readonly cause: DecisionCause };

/** Of a single spot node as many cheaper types are asked for, so that the next launch is not consolidated again. (03:D-47) */
const spotToSpotTypes = 15;

/** Decides what a simulation without these nodes allows. (03:D-44 to D-49, D-46b) */
export function consolidationOutcome(
  candidates: readonly DisruptionCandidate[],
  simulation: DisruptionSimulation,
  snapshot: DisruptionSnapshot,
): ConsolidationOutcome {
  if (simulation.kind === "candidate-deleting") return { kind: "none", cause: { code: "candidate-deleting" } };
  const { newNodes, podErrors } = simulation;
  const price = candidatePrice(candidates);
  if (podErrors.length > 0)
    return { kind: "none", cause: { code: "pods-unschedulable", savings: price, pods: podErrors } };
  const [replacement, ...more] = newNodes;
  if (replacement === undefined) return { kind: "delete" };
  if (more.length > 0) return severalOutcome(candidates, newNodes, snapshot);
  const outcome = replacementOutcome(candidates, replacement, { limit: price, snapshot });
  if (outcome.kind !== "replace") return outcome;
  const mayBeSameType = candidates.length === 1 || snapshot.allowsMultiReplacement;
  const kept = mayBeSameType ? outcome : withoutSameTypes(outcome.replacement, candidates, snapshot);
  return kept.kind === "replace" ? { kind: "replace", replacements: [kept.replacement] } : kept;
}

/**
 * Several new nodes, which together must cost less than the candidates however their launches go. They may be of the
 * candidates' own types: pods then move between nodes that could not exchange them otherwise. (03:D-46, D-46b)
 */
function severalOutcome(
  candidates: readonly DisruptionCandidate[],
  newNodes: readonly PlannedNode[],
  snapshot: DisruptionSnapshot,
): ConsolidationOutcome {
  const price = candidatePrice(candidates);
  const prices = newNodes.map((node) => node.price);
  if (!snapshot.allowsMultiReplacement) return { kind: "none", cause: needsMoreNodes(price, newNodes, prices) };
  const divided = dividedPrice(newNodes, price, snapshot.labelPolicy);
  if (divided.kind === "too-dear") return { kind: "none", cause: needsMoreNodes(price, newNodes, divided.least) };
  const replacements: PlannedNode[] = [];
  for (const [index, node] of newNodes.entries()) {
    const outcome = launchableOutcome(
      replacementOutcome(candidates, node, { limit: divided.limits[index] as number, snapshot }),
      snapshot,
    );
    if (outcome.kind === "none") return outcome;
    replacements.push(outcome.replacement);
  }
  if (areCheaperTogether(replacements, price, snapshot.labelPolicy)) return { kind: "replace", replacements };
  return { kind: "none", cause: needsMoreNodes(price, newNodes, divided.limits) };
}

/** Without types that have no offering left once the node is restricted to spot: they have no price to add up. */
function launchableOutcome(outcome: ReplacementOutcome, { labelPolicy }: DisruptionSnapshot): ReplacementOutcome {
  if (outcome.kind === "none") return outcome;
  const replacement = launchableTypes(outcome.replacement, labelPolicy);
  if (replacement.instanceTypes.length === 0) return noCheaperType(replacement, outcome.replacement.price);
  const flexible = checkMinValues(replacement.instanceTypes, replacement.requirements);
  return flexible.kind === "unsatisfied" ? minValuesOutcome(flexible.achieved) : { kind: "replace", replacement };
}

interface ReplacementOptions {
  /** The node must cost less. */
  readonly limit: number;
  readonly snapshot: DisruptionSnapshot;
}

function replacementOutcome(
  candidates: readonly DisruptionCandidate[],
  node: PlannedNode,
  options: ReplacementOptions,
): ReplacementOutcome {
  return isSpotToSpot(candidates, node)
    ? spotToSpotOutcome(candidates, node, options)
    : cheaperOutcome(node, options.limit, options.snapshot);
}

function needsMoreNodes(price: number, newNodes: readonly PlannedNode[], prices: readonly number[]): DecisionCause {
  const needed = newNodes.map((node, index) => ({
    price: prices[index] as number,
    pods: node.pods.map(({ metadata }) => namespacedName(metadata)).sort(),
  }));
  return {
    code: "needs-more-nodes",
    savings: price - needed.reduce((sum, one) => sum + one.price, 0),
    newNodes: needed,
  };
}

function isSpotToSpot(candidates: readonly DisruptionCandidate[], { requirements }: PlannedNode): boolean {
  return (
    candidates.every(({ capacityType }) => capacityType === "spot") && requirements.get(labels.capacityType).has("spot")
  );
}

/** The worst that can be launched must be cheaper than what is there. (03:D-48) */
function cheaperOutcome(node: PlannedNode, price: number, { labelPolicy }: DisruptionSnapshot): ReplacementOutcome {
  const cheaper = cheaperThan(node, price, labelPolicy);
  if (cheaper.kind === "min-values") return minValuesOutcome(cheaper.achieved);
  if (cheaper.node.instanceTypes.length === 0) return noCheaperType(node, price);
  const capacityType = cheaper.node.requirements.get(labels.capacityType);
  const isEither = capacityType.has("spot") && capacityType.has("on-demand");
  return { kind: "replace", replacement: isEither ? pinnedToSpot(cheaper.node, labelPolicy) : cheaper.node };
}

/** Spot for spot. Several nodes at once need no choice of types: fewer nodes are worth it. (03:D-47) */
function spotToSpotOutcome(
  candidates: readonly DisruptionCandidate[],
  node: PlannedNode,
  { limit, snapshot: { allowsSpotToSpot, labelPolicy } }: ReplacementOptions,
): ReplacementOutcome {
  if (!allowsSpotToSpot) return { kind: "none", cause: { code: "spot-to-spot-disabled" } };
  const spot = launchableTypes(pinnedToSpot(node, labelPolicy), labelPolicy);
  const cheaper = cheaperThan(spot, limit, labelPolicy);
  if (cheaper.kind === "min-values") return minValuesOutcome(cheaper.achieved);
  const { instanceTypes, requirements } = cheaper.node;
  if (instanceTypes.length === 0) return noCheaperType(spot, limit);
  if (candidates.length > 1) return { kind: "replace", replacement: cheaper.node };
  if (instanceTypes.length < spotToSpotTypes) {
    return { kind: "none", cause: { code: "spot-flexibility", needed: spotToSpotTypes, found: instanceTypes.length } };
  }
  const flexible = checkMinValues(instanceTypes, requirements);
  const kept = Math.max(spotToSpotTypes, flexible.kind === "satisfied" ? flexible.needed : 0);
  return { kind: "replace", replacement: withTypes(cheaper.node, instanceTypes.slice(0, kept), labelPolicy) };
}

/** Several nodes are not replaced by one of their own types: deleting the others is the same. (03:D-53) */
function withoutSameTypes(
  node: PlannedNode,
  candidates: readonly DisruptionCandidate[],
  { labelPolicy }: DisruptionSnapshot,
): ReplacementOutcome {
  const cheaper = cheaperThan(node, sameTypeLimit(node, candidates, labelPolicy), labelPolicy);
  if (cheaper.kind === "min-values") return minValuesOutcome(cheaper.achieved);
  if (cheaper.node.instanceTypes.length > 0) return { kind: "replace", replacement: cheaper.node };
  return { kind: "none", cause: { code: "same-type", instanceTypes: node.instanceTypes.map(({ name }) => name) } };
}

function minValuesOutcome(achieved: ReadonlyMap<string, number>): ReplacementOutcome {
  const cause = { code: "min-values", labels: [...achieved.keys()], message: describeMinValues(achieved) } as const;
  return { kind: "none", cause };
}

function noCheaperType(node: PlannedNode, price: number): ReplacementOutcome {
  const cheapest = Number.isFinite(node.price) ? node.price : undefined;
  return { kind: "none", cause: { code: "no-cheaper-type", price, cheapest } };
}
