import { getCondition, isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import {
  instanceTypeCheck,
  isDueForInstanceTypeCheck,
  isInstanceTypeNotFound,
  poolDriftReason,
} from "../../core/disruption/drift-reason.ts";
import type { ExpiringMap } from "../../util/expiring-map.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { withClaimCondition, withoutClaimCondition } from "./claim-conditions.ts";
import type { ClaimStepResult } from "./claim-steps.ts";

/** What a claim is compared with. */
export interface DriftComparison {
  readonly pool: NodePool;
  /** Claims whose instance type was found recently, by uid. (03:M-7) */
  readonly recentTypeChecks: ExpiringMap<true>;
}

export const driftRecheckMs = 5 * 60_000;
/** NodeOverlays are evaluated soon. (02:O-8) */
const unevaluatedMs = 10_000;

/** Sets Drifted on claims whose node is no longer what is asked for. (03:M-6) */
export async function markDrifted(
  claim: NodeClaim,
  against: DriftComparison,
  context: KarpenterContext,
): Promise<ClaimStepResult> {
  if (!isStatusConditionTrue(claim, "Launched"))
    return withoutDrifted(claim, "removing drift status condition, isn't launched", context);
  try {
    const reason = await driftReasonOf(claim, against, context);
    const step =
      reason === undefined
        ? withoutDrifted(claim, "removing drifted status condition, not drifted", context)
        : withDrifted(claim, reason, context);
    return { ...step, afterMs: driftRecheckMs };
  } catch (error) {
    if (isCloudError(error, "not-found")) return { claim };
    if (isCloudError(error, "unevaluated")) return { claim, afterMs: unevaluatedMs };
    return { claim, error: new Error(`drift of nodeclaim ${claim.metadata.name ?? ""}`, { cause: error }) };
  }
}

/** The cheap checks come first. (03:M-7) */
async function driftReasonOf(claim: NodeClaim, against: DriftComparison, context: KarpenterContext) {
  return (
    poolDriftReason(claim, against.pool, context.cloud.labelPolicy) ??
    (await instanceTypeDriftReason(claim, against, context)) ??
    (await context.cloud.driftReason(claim))
  );
}

async function instanceTypeDriftReason(
  claim: NodeClaim,
  { pool, recentTypeChecks }: DriftComparison,
  { clock, cloud }: KarpenterContext,
): Promise<string | undefined> {
  const { uid = "" } = claim.metadata;
  if (!isDueForInstanceTypeCheck(claim, clock.now()) || recentTypeChecks.get(uid)) return undefined;
  const types = await cloud.instanceTypes(pool);
  if (isInstanceTypeNotFound(claim, types, cloud.labelPolicy)) return "InstanceTypeNotFound";
  recentTypeChecks.set(uid, true, instanceTypeCheck.foundForMs); // only "found" is remembered: a catalogue may be wrong for a moment
  return undefined;
}

function withDrifted(claim: NodeClaim, reason: string, { clock, log }: KarpenterContext): ClaimStepResult {
  const isNew = getCondition(claim, "Drifted") === undefined;
  const observation = { status: "True", reason, message: reason, nowMs: clock.now() } as const;
  return {
    claim: withClaimCondition(claim, "Drifted", observation),
    afterWrite: () => void (isNew && log.debug("marking drifted", { reason })),
  };
}

function withoutDrifted(claim: NodeClaim, message: string, { log }: KarpenterContext): ClaimStepResult {
  const after = withoutClaimCondition(claim, "Drifted");
  return { claim: after, afterWrite: () => void (after !== claim && log.debug(message)) };
}
