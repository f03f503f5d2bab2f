import { labels } from "../../api/labels.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { isOwnedByDaemonSet } from "../pod-predicates.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import { drainCost } from "./costs.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { BalancedScore } from "./verdict.ts";

/** How much more than its share of the savings a move may cost in disruption. (03:B-1) */
export const balancedK = 2;

/** What shares are taken of. (03:B-4) */
export interface BalancedTotals {
  readonly cost: number;
  readonly disruptionCost: number;
}

/** Totals of every pool with a candidate, over all of its nodes. (03:B-4) */
export function* balancedTotals(
  candidates: readonly DisruptionCandidate[],
  { cluster, pools }: DisruptionSnapshot,
): Steps<ReadonlyMap<string, BalancedTotals>> {
  const byProviderId = new Map(candidates.map((one) => [one.providerId, one]));
  const priceSums = sumByPool(
    candidates,
    ({ pool }) => pool.name,
    ({ price }) => price,
  );
  yield;
  const disruption = new Map<string, number>();
  yield* forEachInSteps(cluster.nodes, (node) => {
    const pool = node.existing.labels[labels.nodePool];
    if (pool === undefined) return;
    const cost = byProviderId.get(node.providerId)?.disruptionCost ?? nodeDrainCost(node);
    disruption.set(pool, (disruption.get(pool) ?? 0) + cost);
  });
  return new Map(
    [...priceSums].map(([name, priceSum]) => {
      const cost = pools.get(name)?.cost ?? 0;
      return [name, { cost: cost > 0 ? cost : priceSum, disruptionCost: disruption.get(name) ?? 0 }];
    }),
  );
}

/** Of a node that is no candidate: all of its pods but daemons count, whether or not they would be rescheduled. (03:B-4) */
function nodeDrainCost({ pods }: StateNode): number {
  return drainCost(pods.filter((pod) => !isOwnedByDaemonSet(pod)));
}

function sumByPool<T>(
  items: readonly T[],
  poolOf: (item: T) => string,
  amountOf: (item: T) => number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const item of items) {
    const pool = poolOf(item);
    sums.set(pool, (sums.get(pool) ?? 0) + amountOf(item));
  }
  return sums;
}

/** Savings against disruption; no saving, or nothing to compare with, scores 0. (03:B-1) */
function scoreMove(
  pool: string,
  { savings, disruptionCost }: { readonly savings: number; readonly disruptionCost: number },
  totals: BalancedTotals | undefined,
): BalancedScore {
  const isKnown = totals !== undefined && totals.cost > 0 && totals.disruptionCost > 0;
  const savingsShare = isKnown ? savings / totals.cost : 0;
  const disruptionShare = isKnown ? disruptionCost / totals.disruptionCost : 0;
  const threshold = 1 / balancedK;
  const score = scoreOf(savingsShare, disruptionShare);
  return { pool, savingsShare, disruptionShare, score, threshold, isApproved: score >= threshold };
}

function scoreOf(savingsShare: number, disruptionShare: number): number {
  if (!(savingsShare > 0)) return 0;
  return disruptionShare === 0 ? Number.POSITIVE_INFINITY : savingsShare / disruptionShare;
}

/** A move and the pools it takes nodes from. */
export interface ScoredCommand {
  readonly candidates: readonly DisruptionCandidate[];
  readonly savings: number;
}

/**
 * The score of every Balanced pool the move takes nodes from. Savings are shared by what the pools' nodes cost; pools of
 * another policy have no score and never veto. (03:B-5)
 */
export function balancedScores(
  { candidates, savings }: ScoredCommand,
  totals: ReadonlyMap<string, BalancedTotals>,
): readonly BalancedScore[] {
  const pools = new Set(candidates.map(({ pool }) => pool));
  const price = sumByPool(
    candidates,
    ({ pool }) => pool.name,
    (one) => one.price,
  );
  const disruption = sumByPool(
    candidates,
    ({ pool }) => pool.name,
    (one) => one.disruptionCost,
  );
  const total = candidates.reduce((sum, one) => sum + one.price, 0);
  return [...pools].filter(isBalanced).map(({ name }) => {
    const share = total > 0 && pools.size > 1 ? (price.get(name) ?? 0) / total : 1;
    return scoreMove(name, { savings: savings * share, disruptionCost: disruption.get(name) ?? 0 }, totals.get(name));
  });
}

/** Whether every pool that is asked approves. (03:B-5) */
export function areApproved(scores: readonly BalancedScore[]): boolean {
  return scores.every(({ isApproved }) => isApproved);
}

/**
 * Deleting a node outright is the best that can happen to it: where that does not pass, no replacement does. Undefined
 * if it passes, or the pool's totals are unknown. (03:B-6)
 */
export function rejectedEvenIfDeleted(
  { pool, price, disruptionCost }: DisruptionCandidate,
  totals: ReadonlyMap<string, BalancedTotals>,
): BalancedScore | undefined {
  const known = totals.get(pool.name);
  if (!isBalanced(pool) || known === undefined || known.cost <= 0) return undefined;
  const score = scoreMove(pool.name, { savings: price, disruptionCost }, known);
  return score.isApproved ? undefined : score;
}

function isBalanced({ nodePool }: DisruptionCandidate["pool"]): boolean {
  return nodePool.spec.disruption.consolidationPolicy === "Balanced";
}
