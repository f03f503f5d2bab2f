import type { Steps } from "../../util/steps.ts";
import type { DisruptionMethodName } from "../disruption/methods.ts";
import { nextCommands } from "../disruption/next-commands.ts";
import type { SearchBudget } from "../disruption/simulator.ts";
import type { DisruptionSearch, DisruptionSnapshot } from "../disruption/snapshot.ts";
import { isReschedulable } from "../pod-predicates.ts";
import { type ClusterProjection, clusterChangeOf } from "./cluster-projection.ts";
import { clusterPrice } from "./node-prices.ts";

/** Each is followed for as many steps; a cluster that it is worth for settles in fewer. */
const maxSteps = 30;
/** One command after the other takes longer, so it must save this share of the price. */
const leastSaved = 0.01;

/** In larger clusters they differ less, and following them takes too long. */
const maxNodes = 20;

/**
 * Whether their ends can be told: the cluster is small, no node is on its way in, and none that leaves has pods. Not with
 * devices: which of them pods get on nodes that are only foreseen is not known.
 */
export function canForesee({ cluster, allowsMultiReplacement, devices }: DisruptionSnapshot): boolean {
  const { nodes } = cluster;
  if (devices !== undefined) return false;
  const isAtRest = nodes.every(({ isBeingDeleted, isInitialized, pods }) =>
    isBeingDeleted ? !pods.some(isReschedulable) : isInitialized,
  );
  return isAtRest && !allowsMultiReplacement && nodes.length > 2 && isSmallCluster({ cluster });
}

/** In a cluster that has grown, what was chosen for a small one no longer counts. */
export function isSmallCluster({ cluster }: Pick<DisruptionSnapshot, "cluster">): boolean {
  return cluster.nodes.length <= maxNodes;
}

/** Whether it is worth looking for the cheaper one before commands of the method are started. */
export function mayBeCheaper(method: DisruptionMethodName, snapshot: DisruptionSnapshot): boolean {
  const isConsolidation = method === "multi-node-consolidation" || method === "single-node-consolidation";
  return isConsolidation && snapshot.mode === "default" && canForesee(snapshot);
}

export interface CheaperSearchOptions {
  readonly projectionOf: (mode: DisruptionSearch) => ClusterProjection;
  readonly openSearch: () => SearchBudget;
}

/**
 * Which search leads to the cheaper cluster. Our commands are the best there are when they are chosen, and yet may lead to
 * nodes that cannot be made smaller, where others, one after the other in upstream's order, would not. So both are
 * followed to their end.
 */
export function* cheaperSearch({ projectionOf, openSearch }: CheaperSearchOptions): Steps<DisruptionSearch> {
  const ours = yield* priceInTheEnd(projectionOf("default"), openSearch);
  if (!Number.isFinite(ours)) return "default";
  const stepwise = yield* priceInTheEnd(projectionOf("stepwise"), openSearch);
  return stepwise < (1 - leastSaved) * ours ? "stepwise" : "default";
}

/** Infinite if a replacement cannot be launched: what follows is not known. */
function* priceInTheEnd(projection: ClusterProjection, openSearch: () => SearchBudget): Steps<number> {
  for (let step = 0; step < maxSteps; step++) {
    const next = yield* nextCommands(projection.snapshot(), openSearch());
    if (next === undefined) break;
    for (const command of next.commands)
      if (projection.carryOut(clusterChangeOf(command)).includes(undefined)) return Number.POSITIVE_INFINITY;
  }
  return clusterPrice(projection.snapshot());
}
