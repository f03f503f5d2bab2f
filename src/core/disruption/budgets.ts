import { allowedDisruptions, availableDisruptions } from "../../api/budgets/budget.ts";
import type { Conditioned } from "../../api/conditions/condition.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { Problem } from "../../api/problem.ts";
import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";
import type { DisruptionCandidate } from "./candidate.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { DecisionCause } from "./verdict.ts";

/** How many nodes a pool may lose for a reason. (03 §4.4) */
export interface PoolBudget {
  readonly pool: string;
  readonly reason: DisruptionReason;
  /** Nodes that count. (03:D-20) */
  readonly nodes: number;
  /** Of those, not ready ones and those marked for deletion. (03:D-20) */
  readonly disrupting: number;
  /** By the strictest budget, before disrupting nodes are taken off. (03:D-21) */
  readonly allowed: number;
  /** What is left. (03:D-24) */
  readonly available: number;
  /** Budgets that cannot be evaluated; they block every reason. (03:D-23) */
  readonly problems: readonly Problem[];
}

/** The budgets of all pools for a reason, by pool. */
export function poolBudgets(
  { cluster, pools, nowMs }: DisruptionSnapshot,
  reason: DisruptionReason,
): ReadonlyMap<string, PoolBudget> {
  const counts = new Map<string, { nodes: number; disrupting: number }>();
  for (const stateNode of cluster.nodes) {
    if (!isCounted(stateNode)) continue;
    const { nodePool = "" } = stateNode;
    const count = counts.get(nodePool) ?? { nodes: 0, disrupting: 0 };
    counts.set(nodePool, count);
    count.nodes++;
    if (isDisrupting(stateNode)) count.disrupting++;
  }
  return new Map(
    [...pools].map(([pool, { nodePool }]) => {
      const { nodes, disrupting } = counts.get(pool) ?? { nodes: 0, disrupting: 0 };
      const { allowed, problems } = allowedDisruptions(nodePool.spec.disruption.budgets, { reason, nodes, nowMs });
      const available = availableDisruptions(allowed, disrupting);
      return [pool, { pool, reason, nodes, disrupting, allowed, available, problems }];
    }),
  );
}

/** A replacement that is not initialized must not round a percentage up. (03:D-20) */
function isCounted({ claim, isInitialized }: StateNode): boolean {
  return claim !== undefined && isInitialized && !isStatusConditionTrue(claim as Conditioned, "InstanceTerminating");
}

function isDisrupting({ node, isBeingDeleted }: StateNode): boolean {
  return (
    isBeingDeleted ||
    !(node?.status?.conditions ?? []).some(({ type, status }) => type === "Ready" && status === "True")
  );
}

/** Budgets while nodes are being chosen. (03:D-28) */
export class BudgetTickets {
  readonly #budgets: ReadonlyMap<string, PoolBudget>;
  readonly #taken = new Map<string, number>();

  constructor(budgets: ReadonlyMap<string, PoolBudget>) {
    this.#budgets = budgets;
  }

  isLeft({ pool }: DisruptionCandidate): boolean {
    return (this.#taken.get(pool.name) ?? 0) < (this.#budgets.get(pool.name)?.available ?? 0);
  }

  /** Whether there was one left. */
  take(candidate: DisruptionCandidate): boolean {
    if (!this.isLeft(candidate)) return false;
    this.#taken.set(candidate.pool.name, (this.#taken.get(candidate.pool.name) ?? 0) + 1);
    return true;
  }

  causeFor({ pool }: DisruptionCandidate): DecisionCause {
    const budget = this.#budgets.get(pool.name);
    if (budget === undefined) throw new Error(`nodepool ${pool.name} of a candidate has no budget`);
    return budgetCause(budget);
  }
}

/** That a budget holds a node back. */
export function budgetCause({ pool, reason, allowed, disrupting }: PoolBudget): DecisionCause {
  return { code: "budget", pool, reason, allowed, disrupting };
}
