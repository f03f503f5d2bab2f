import type { NodeClaimDependent } from "../../api/conditions/node-claim.ts";
import { getCondition, isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { formatDurationMs } from "../../util/duration.ts";
import type { ClaimReconcileContext } from "./claim-reconcile-context.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import { type DisruptionCause, disruptClaim } from "./disrupt-claim.ts";
import { recordRegistrationOutcome } from "./registration-outcome.ts";

interface ConditionTimeout {
  readonly type: NodeClaimDependent;
  readonly timeoutMs: number;
  readonly reason: DisruptionCause;
}

/** Gives up on machines that are not bought or do not join in time. (03 §1.5) */
export async function checkLiveness(claim: NodeClaim, claimContext: ClaimReconcileContext): Promise<ClaimStepResult> {
  const { launchTimeoutMs, registrationTimeoutMs } = claimContext.dependencies.settings;
  if (isStatusConditionTrue(claim, "Registered")) return { claim };
  // One or the other: a claim that was never bought must not be counted twice. (03:L-23)
  return isStatusConditionTrue(claim, "Launched")
    ? enforceTimeout(
        claim,
        { type: "Registered", timeoutMs: registrationTimeoutMs, reason: "registration_timeout" },
        claimContext,
      )
    : enforceTimeout(claim, { type: "Launched", timeoutMs: launchTimeoutMs, reason: "launch_timeout" }, claimContext);
}

/** From when the condition last moved: a claim may have been there for long before anybody looked at it. (03:L-20) */
async function enforceTimeout(
  claim: NodeClaim,
  { type, timeoutMs, reason }: ConditionTimeout,
  claimContext: ClaimReconcileContext,
): Promise<ClaimStepResult> {
  const since = Date.parse(getCondition(claim, type)?.lastTransitionTime ?? "");
  if (Number.isNaN(since)) return { claim };
  const leftMs = since + timeoutMs - claimContext.context.clock.now();
  if (leftMs > 0) return { claim, afterMs: leftMs };
  if (await disruptClaim(claim, { ...claimContext, reason })) {
    claimContext.log.debug("terminating due to timeout", { timeout: formatDurationMs(timeoutMs), reason });
    await recordRegistrationOutcome(claim, { ...claimContext, isRegistered: false });
  }
  return { claim, isDeleted: true };
}
