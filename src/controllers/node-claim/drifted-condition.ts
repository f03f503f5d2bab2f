import { getCondition, isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import type { ExpiringMap } from "../../kube/expiring-map.ts";
import { withClaimCondition, withoutClaimCondition } from "./claim-conditions.ts";
import type { ClaimReconcileContext } from "./claim-reconcile-context.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import {
  instanceTypeCheck,
  isDueForInstanceTypeCheck,
  isInstanceTypeNotFound,
  poolDriftReason,
} from "./drift-reason.ts";

/** What marking drift needs beside the claim. */
export interface DriftContext extends ClaimReconcileContext {
  readonly pool: NodePool;
  /** Claims whose type is known to be sold still, by uid. (03:M-7) */
  readonly found: ExpiringMap<true>;
}

const recheckMs = 5 * 60_000;
/** Prices that are being worked out are there soon. (02:O-8) */
const unevaluatedMs = 10_000;

/** Marks claims whose machine is no longer what is asked for. (03:M-6) */
export async function markDrifted(claim: NodeClaim, claimContext: DriftContext): Promise<ClaimStepResult> {
  if (!isStatusConditionTrue(claim, "Launched"))
    return withoutDrifted(claim, "removing drift status condition, isn't launched", claimContext);
  try {
    const reason = await driftReasonOf(claim, claimContext);
    const step =
      reason === undefined
        ? withoutDrifted(claim, "removing drifted status condition, not drifted", claimContext)
        : withDrifted(claim, reason, claimContext);
    return { ...step, afterMs: recheckMs };
  } catch (error) {
    if (isCloudError(error, "not-found")) return { claim };
    if (isCloudError(error, "unevaluated")) return { claim, afterMs: unevaluatedMs };
    return { claim, error: new Error(`drift of nodeclaim ${claim.metadata.name ?? ""}`, { cause: error }) };
  }
}

/** What is cheap to find out comes first. (03:M-7) */
async function driftReasonOf(claim: NodeClaim, claimContext: DriftContext): Promise<string | undefined> {
  const { cloud } = claimContext.dependencies;
  return (
    poolDriftReason(claim, claimContext.pool, cloud.labelPolicy) ??
    (await instanceTypeDriftReason(claim, claimContext)) ??
    (await cloud.driftReason(claim))
  );
}

async function instanceTypeDriftReason(
  claim: NodeClaim,
  { pool, found, context, dependencies }: DriftContext,
): Promise<string | undefined> {
  const { uid = "" } = claim.metadata;
  if (!isDueForInstanceTypeCheck(claim, context.clock.now()) || found.get(uid)) return undefined;
  const types = await dependencies.cloud.instanceTypes(pool);
  if (isInstanceTypeNotFound(claim, types, dependencies.cloud.labelPolicy)) return "InstanceTypeNotFound";
  found.set(uid, true, instanceTypeCheck.foundForMs); // only good news is kept: a catalogue may be wrong for a moment
  return undefined;
}

function withDrifted(claim: NodeClaim, reason: string, { context, log }: ClaimReconcileContext): ClaimStepResult {
  const isNew = getCondition(claim, "Drifted") === undefined;
  return {
    claim: withClaimCondition(claim, "Drifted", {
      status: "True",
      reason,
      message: reason,
      nowMs: context.clock.now(),
    }),
    afterWrite: () => void (isNew && log.debug("marking drifted", { reason })),
  };
}

function withoutDrifted(claim: NodeClaim, message: string, { log }: ClaimReconcileContext): ClaimStepResult {
  const after = withoutClaimCondition(claim, "Drifted");
  return { claim: after, afterWrite: () => void (after !== claim && log.debug(message)) };
}
