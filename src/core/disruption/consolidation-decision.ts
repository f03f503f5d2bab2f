import { labels } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import { checkMinValues, describeMinValues } from "../min-values.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { candidatePrice } from "./command.ts";
import { cheaperThan, launchableTypes, pinnedToSpot, sameTypeLimit, withTypes } from "./price-filters.ts";
import type { DisruptionSimulation } from "./simulator.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { DecisionCause } from "./verdict.ts";

/** What comes of removing nodes to save money. */
export type ConsolidationOutcome =
  | { readonly kind: "delete" }
  | { readonly kind: "replace"; readonly replacement: PlannedNode }
  | { readonly kind: "none"; readonly cause: DecisionCause };

/** Of a single spot node as many cheaper types are asked for, so that the next launch is not consolidated again. (03:D-47) */
const spotToSpotTypes = 15;

/** Decides what a simulation without these nodes allows. (03:D-44 to D-49) */
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
  if (more.length > 0) return { kind: "none", cause: needsMoreNodes(price, newNodes) };
  const outcome = isSpotToSpot(candidates, replacement)
    ? spotToSpotOutcome(candidates, replacement, snapshot)
    : cheaperOutcome(replacement, price, snapshot);
  if (outcome.kind !== "replace" || candidates.length === 1) return outcome;
  return withoutSameTypes(outcome.replacement, candidates, snapshot);
}

function needsMoreNodes(price: number, newNodes: readonly PlannedNode[]): DecisionCause {
  const needed = newNodes.map((node) => ({
    price: node.price,
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
function cheaperOutcome(node: PlannedNode, price: number, { labelPolicy }: DisruptionSnapshot): ConsolidationOutcome {
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
  { allowsSpotToSpot, labelPolicy }: DisruptionSnapshot,
): ConsolidationOutcome {
  if (!allowsSpotToSpot) return { kind: "none", cause: { code: "spot-to-spot-disabled" } };
  const price = candidatePrice(candidates);
  const spot = launchableTypes(pinnedToSpot(node, labelPolicy), labelPolicy);
  const cheaper = cheaperThan(spot, price, labelPolicy);
  if (cheaper.kind === "min-values") return minValuesOutcome(cheaper.achieved);
  const { instanceTypes, requirements } = cheaper.node;
  if (instanceTypes.length === 0) return noCheaperType(spot, price);
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
): ConsolidationOutcome {
  const cheaper = cheaperThan(node, sameTypeLimit(node, candidates, labelPolicy), labelPolicy);
  if (cheaper.kind === "min-values") return minValuesOutcome(cheaper.achieved);
  if (cheaper.node.instanceTypes.length > 0) return { kind: "replace", replacement: cheaper.node };
  return { kind: "none", cause: { code: "same-type", instanceTypes: node.instanceTypes.map(({ name }) => name) } };
}

function minValuesOutcome(achieved: ReadonlyMap<string, number>): ConsolidationOutcome {
  const cause = { code: "min-values", labels: [...achieved.keys()], message: describeMinValues(achieved) } as const;
  return { kind: "none", cause };
}

function noCheaperType(node: PlannedNode, price: number): ConsolidationOutcome {
  const cheapest = Number.isFinite(node.price) ? node.price : undefined;
  return { kind: "none", cause: { code: "no-cheaper-type", price, cheapest } };
}
