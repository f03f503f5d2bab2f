import { isConditionSettled, launchFailureObservation } from "../../api/conditions/node-claim.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labels } from "../../api/labels.ts";
import { cloudErrorOf } from "../../cloud/cloud-error.ts";
import type { Instance } from "../../cloud/cloud-provider.ts";
import { errorMessage } from "../../util/error-text.ts";
import type { ExpiringMap } from "../../util/expiring-map.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { withClaimCondition, withClaimConditionRefreshed, withClaimConditionTrue } from "./claim-conditions.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import { type DisruptionCause, disruptClaim } from "./disrupt-claim.ts";

/** Instances created for claims, by uid: a status that could not be written must not launch a second one. (03:L-5) */
export type LaunchedInstances = ExpiringMap<Instance>;

const rememberedMs = 60 * 60_000;

/** Creates the instance. (03 §1.2) */
export async function launchInstance(
  claim: NodeClaim,
  launches: LaunchedInstances,
  context: KarpenterContext,
): Promise<ClaimStepResult> {
  const { uid = "" } = claim.metadata;
  if (isConditionSettled(claim, "Launched")) {
    if (isStatusConditionTrue(claim, "Launched")) launches.delete(uid);
    return { claim: withClaimConditionRefreshed(claim, "Launched", context.clock.now()) };
  }
  const known = launches.get(uid);
  if (known !== undefined) return withLaunched(claim, known, context);
  try {
    const instance = await context.cloud.create(claim);
    launches.set(uid, instance, rememberedMs);
    logLaunch(instance, context);
    return withLaunched(claim, instance, context);
  } catch (error) {
    return onLaunchError(claim, error, context);
  }
}

function withLaunched(claim: NodeClaim, instance: Instance, { clock }: KarpenterContext): ClaimStepResult {
  return { claim: withClaimConditionTrue(withInstanceDetails(claim, instance), "Launched", clock.now()) };
}

/** The claim's labels win over the instance's; the instance's annotations win over the claim's. (03:L-7) */
export function withInstanceDetails(claim: NodeClaim, instance: Instance): NodeClaim {
  const { providerId, imageId, capacity, allocatable } = instance;
  return {
    ...claim,
    metadata: {
      ...claim.metadata,
      labels: { ...instance.labels, ...claim.metadata.labels },
      annotations: { ...claim.metadata.annotations, ...instance.annotations },
    },
    status: {
      ...claim.status,
      providerID: providerId,
      ...(imageId !== undefined && { imageID: imageId }),
      capacity,
      allocatable,
    },
  };
}

function logLaunch({ providerId, labels: instanceLabels, allocatable }: Instance, { log }: KarpenterContext): void {
  log.info("launched nodeclaim", {
    "provider-id": providerId,
    "instance-type": instanceLabels[labels.instanceType],
    zone: instanceLabels[labels.zone],
    "capacity-type": instanceLabels[labels.capacityType],
    allocatable,
  });
}

/**
 * No capacity, or the node class is not ready: the claim is deleted, so that another can ask for something else. Other
 * errors are retried. (03:L-6)
 */
async function onLaunchError(claim: NodeClaim, error: unknown, context: KarpenterContext): Promise<ClaimStepResult> {
  const cloudError = cloudErrorOf(error);
  switch (cloudError?.code) {
    case "insufficient-capacity":
      recordInsufficientCapacity(claim, cloudError, context);
      return abandonClaim(claim, { error, reason: "insufficient_capacity" }, context);
    case "node-class-not-ready":
      return abandonClaim(claim, { error, reason: "nodeclass_not_ready" }, context);
    default:
      return withLaunchFailure(claim, error, context);
  }
}

async function abandonClaim(
  claim: NodeClaim,
  { error, reason }: { readonly error: unknown; readonly reason: DisruptionCause },
  context: KarpenterContext,
): Promise<ClaimStepResult> {
  context.log.error("failed launching nodeclaim", { error });
  await disruptClaim(claim, { reason }, context);
  return { claim, isDeleted: true };
}

function recordInsufficientCapacity(claim: NodeClaim, { message }: Error, { recordEvent }: KarpenterContext): void {
  const { name = "", uid = "" } = claim.metadata;
  recordEvent(claim, {
    type: "Warning",
    reason: "InsufficientCapacityError",
    message: `NodeClaim ${name} event: ${launchFailureObservation({ message }).message}`,
    dedupe: { values: [uid] },
  });
}

function withLaunchFailure(claim: NodeClaim, error: unknown, { clock }: KarpenterContext): ClaimStepResult {
  const createError = cloudErrorOf(error, "create-failed");
  const finding =
    createError === undefined
      ? launchFailureObservation({ message: errorMessage(error) })
      : launchFailureObservation({
          ...(createError.reason && { reason: createError.reason }),
          message: createError.detail,
        });
  return {
    claim: withClaimCondition(claim, "Launched", { ...finding, nowMs: clock.now() }),
    error: new Error(`launching nodeclaim ${claim.metadata.name ?? ""}`, { cause: error }),
  };
}
