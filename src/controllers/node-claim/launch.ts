import { isConditionSettled, launchFailureObservation } from "../../api/conditions/node-claim.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labels } from "../../api/labels.ts";
import { cloudErrorOf } from "../../cloud/cloud-error.ts";
import type { Instance } from "../../cloud/cloud-provider.ts";
import type { ExpiringMap } from "../../kube/expiring-map.ts";
import { errorMessage } from "../../util/error-text.ts";
import { withClaimCondition, withClaimConditionRefreshed, withClaimConditionTrue } from "./claim-conditions.ts";
import type { ClaimReconcileContext } from "./claim-reconcile-context.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import { type DisruptionCause, disruptClaim } from "./disrupt-claim.ts";

/** Machines bought for claims, by uid: a status that could not be written must not buy a second one. (03:L-5) */
export type LaunchedInstances = ExpiringMap<Instance>;

const rememberedMs = 60 * 60_000;

/** Buys the machine. (03 §1.2) */
export async function launchInstance(
  claim: NodeClaim,
  claimContext: ClaimReconcileContext & { readonly launches: LaunchedInstances },
): Promise<ClaimStepResult> {
  const { context, launches } = claimContext;
  const { uid = "" } = claim.metadata;
  if (isConditionSettled(claim, "Launched")) {
    if (isStatusConditionTrue(claim, "Launched")) launches.delete(uid);
    return { claim: withClaimConditionRefreshed(claim, "Launched", context.clock.now()) };
  }
  const known = launches.get(uid);
  if (known !== undefined) return withLaunched(claim, known, claimContext);
  try {
    const instance = await claimContext.dependencies.cloud.create(claim);
    launches.set(uid, instance, rememberedMs);
    logLaunch(instance, claimContext);
    return withLaunched(claim, instance, claimContext);
  } catch (error) {
    return handleLaunchError(claim, error, claimContext);
  }
}

function withLaunched(claim: NodeClaim, instance: Instance, { context }: ClaimReconcileContext): ClaimStepResult {
  return { claim: withClaimConditionTrue(withInstanceDetails(claim, instance), "Launched", context.clock.now()) };
}

/** What people said of the claim counts over what the cloud says, and the cloud's annotations over the claim's. (03:L-7) */
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

function logLaunch(
  { providerId, labels: instanceLabels, allocatable }: Instance,
  { log }: ClaimReconcileContext,
): void {
  log.info("launched nodeclaim", {
    "provider-id": providerId,
    "instance-type": instanceLabels[labels.instanceType],
    zone: instanceLabels[labels.zone],
    "capacity-type": instanceLabels[labels.capacityType],
    allocatable,
  });
}

/** Nothing can be had, or nothing may be: another claim may ask for something else. The rest is tried again. (03:L-6) */
async function handleLaunchError(
  claim: NodeClaim,
  error: unknown,
  claimContext: ClaimReconcileContext,
): Promise<ClaimStepResult> {
  const cloudError = cloudErrorOf(error);
  switch (cloudError?.code) {
    case "insufficient-capacity":
      recordInsufficientCapacity(claim, cloudError, claimContext);
      return abandonClaim(claim, { error, reason: "insufficient_capacity", claimContext });
    case "node-class-not-ready":
      return abandonClaim(claim, { error, reason: "nodeclass_not_ready", claimContext });
    default:
      return withLaunchFailure(claim, error, claimContext);
  }
}

interface AbandonClaimOptions {
  readonly error: unknown;
  readonly reason: DisruptionCause;
  readonly claimContext: ClaimReconcileContext;
}

async function abandonClaim(
  claim: NodeClaim,
  { error, reason, claimContext }: AbandonClaimOptions,
): Promise<ClaimStepResult> {
  claimContext.log.error("failed launching nodeclaim", { error });
  await disruptClaim(claim, { ...claimContext, reason });
  return { claim, isDeleted: true };
}

function recordInsufficientCapacity(claim: NodeClaim, { message }: Error, { context }: ClaimReconcileContext): void {
  const { name = "", uid = "" } = claim.metadata;
  context.recordEvent(claim, {
    type: "Warning",
    reason: "InsufficientCapacityError",
    message: `NodeClaim ${name} event: ${launchFailureObservation({ message }).message}`,
    dedupe: { values: [uid] },
  });
}

function withLaunchFailure(claim: NodeClaim, error: unknown, { context }: ClaimReconcileContext): ClaimStepResult {
  const createError = cloudErrorOf(error, "create-failed");
  const finding =
    createError === undefined
      ? launchFailureObservation({ message: errorMessage(error) })
      : launchFailureObservation({
          ...(createError.reason && { reason: createError.reason }),
          message: createError.detail,
        });
  return {
    claim: withClaimCondition(claim, "Launched", { ...finding, nowMs: context.clock.now() }),
    error: new Error(`launching nodeclaim ${claim.metadata.name ?? ""}`, { cause: error }),
  };
}
