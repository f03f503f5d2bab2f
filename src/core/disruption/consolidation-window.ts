import type { Conditioned } from "../../api/conditions/condition.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { neverDuration, parseNillableDurationMs } from "../../util/duration.ts";

/** From when a claim may be consolidated, or why it may not be. (03:M-4, M-5) */
export type ConsolidationReadiness =
  | { readonly isPossible: true; readonly fromMs: number }
  | { readonly isPossible: false; readonly because: string };

/** A pool's consolidateAfter in milliseconds; undefined: never. */
export function consolidateAfterMs({ spec }: NodePool): number | undefined {
  const afterMs = parseNillableDurationMs(spec.disruption.consolidateAfter) ?? neverDuration;
  return afterMs === neverDuration ? undefined : afterMs;
}

/** Counted from the last pod event, or from when the node was initialized. (03:M-4) */
export function consolidationReadiness(claim: NodeClaim, pool: NodePool): ConsolidationReadiness {
  if (pool.spec.replicas !== undefined) return { isPossible: false, because: "the pool is static" };
  const afterMs = consolidateAfterMs(pool);
  if (afterMs === undefined) return { isPossible: false, because: "consolidation is disabled" };
  const initialized = getCondition(claim as Conditioned, "Initialized");
  if (initialized?.status !== "True") return { isPossible: false, because: "nodeclaim isn't initialized" };
  const since = Date.parse(claim.status?.lastPodEventTime ?? initialized.lastTransitionTime);
  return { isPossible: true, fromMs: afterMs === 0 ? Number.NEGATIVE_INFINITY : since + afterMs };
}

/** Whether a node waits for its consolidateAfter: pods do not move there voluntarily. (03:D-41) */
export function isUnderConsolidateAfter(claim: NodeClaim, pool: NodePool, nowMs: number): boolean {
  const readiness = consolidationReadiness(claim, pool);
  return readiness.isPossible && nowMs < readiness.fromMs;
}
