import { podProtection } from "../../api/validation/do-not-disrupt.ts";
import { consolidationReadiness } from "./consolidation-window.ts";
import { recentMoveMs } from "./recent-move.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";

/**
 * Until when the same cluster is seen as it is now: the end of a protection, of a consolidateAfter, of a wait or of the
 * memory of a move. Budgets also depend on the time, and are compared by whoever asks.
 */
export function nextTimedChange(snapshot: DisruptionSnapshot): number {
  let next = Number.POSITIVE_INFINITY;
  for (const atMs of timedChanges(snapshot)) if (atMs > snapshot.nowMs && atMs < next) next = atMs;
  return next;
}

function* timedChanges({ cluster, pools, heldBackPools, recentMoves, nowMs }: DisruptionSnapshot): Iterable<number> {
  yield* heldBackPools.values();
  for (const { atMs } of recentMoves) yield atMs + recentMoveMs;
  for (const { claim, nodePool = "", pods } of cluster.nodes) {
    const pool = pools.get(nodePool)?.nodePool;
    const readiness = claim && pool && consolidationReadiness(claim, pool);
    if (readiness?.isPossible) yield readiness.fromMs;
    for (const pod of pods) {
      const protection = podProtection(pod, nowMs);
      if (protection.kind === "until" && protection.untilMs !== undefined) yield protection.untilMs;
    }
  }
}
