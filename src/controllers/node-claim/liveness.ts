import type { NodeClaimDependent } from "../../api/conditions/node-claim.ts";
import { getCondition, isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { formatDurationMs } from "../../util/duration.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import { type DisruptionCause, disruptClaim } from "./disrupt-claim.ts";
import { recordRegistrationOutcome } from "./registration-outcome.ts";

interface ConditionTimeout {
  readonly type: NodeClaimDependent;
  readonly timeoutMs: number;
  readonly reason: DisruptionCause;
}

/** Deletes claims that are not launched or not registered in time. (03 §1.5) */
export async function checkLiveness(claim: NodeClaim, context: KarpenterContext): Promise<ClaimStepResult> {
  if (isStatusConditionTrue(claim, "Registered")) return { claim };
  const { launchTimeoutMs, registrationTimeoutMs } = context.settings;
  // One or the other: an unlaunched claim must not be counted twice. (03:L-23)
  const timeout: ConditionTimeout = isStatusConditionTrue(claim, "Launched")
    ? { type: "Registered", timeoutMs: registrationTimeoutMs, reason: "registration_timeout" }
    : { type: "Launched", timeoutMs: launchTimeoutMs, reason: "launch_timeout" };
  return enforceTimeout(claim, timeout, context);
}

/** Measured from the condition's last transition: the claim may be older than our first look at it. (03:L-20) */
async function enforceTimeout(
  claim: NodeClaim,
  { type, timeoutMs, reason }: ConditionTimeout,
  context: KarpenterContext,
): Promise<ClaimStepResult> {
  const since = Date.parse(getCondition(claim, type)?.lastTransitionTime ?? "");
  if (Number.isNaN(since)) return { claim };
  const leftMs = since + timeoutMs - context.clock.now();
  if (leftMs > 0) return { claim, afterMs: leftMs };
  if (await disruptClaim(claim, { reason }, context)) {
    context.log.debug("terminating due to timeout", { timeout: formatDurationMs(timeoutMs), reason });
    await recordRegistrationOutcome(claim, { isRegistered: false }, context);
  }
  return { claim, isDeleted: true };
}
