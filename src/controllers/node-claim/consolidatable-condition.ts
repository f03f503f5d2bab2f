import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { consolidationReadiness } from "../../core/disruption/consolidation-window.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { withClaimConditionTrue, withoutClaimCondition } from "./claim-conditions.ts";
import type { ClaimStepResult } from "./claim-steps.ts";

/** Sets Consolidatable on claims without pod events for as long as their pool asks for. (03:M-4) */
export function markConsolidatable(claim: NodeClaim, pool: NodePool, context: KarpenterContext): ClaimStepResult {
  const now = context.clock.now();
  const readiness = consolidationReadiness(claim, pool);
  if (!readiness.isPossible) return withoutConsolidatable(claim, readiness.because, context);
  const leftMs = readiness.fromMs - now;
  if (leftMs > 0)
    return {
      ...withoutConsolidatable(claim, "consolidateAfter window not yet elapsed", context),
      afterMs: leftMs,
    };
  const isNew = getCondition(claim, "Consolidatable") === undefined;
  return {
    claim: withClaimConditionTrue(claim, "Consolidatable", now),
    afterWrite: () => void (isNew && context.log.debug("marking consolidatable")),
  };
}

function withoutConsolidatable(claim: NodeClaim, reason: string, { log }: KarpenterContext): ClaimStepResult {
  const after = withoutClaimCondition(claim, "Consolidatable");
  const afterWrite = () => void (after !== claim && log.debug("removing consolidatable status condition", { reason }));
  return { claim: after, afterWrite };
}
