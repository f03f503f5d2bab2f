import { getCondition, isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, finalizers, labels } from "../../api/labels.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { parseDurationMs } from "../../util/duration.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { deleteExisting, mergePatchObject } from "../writes.ts";
import { withClaimConditionTrue } from "./claim-conditions.ts";
import { allNodesForClaim } from "./claim-lookups.ts";
import type { ClaimReconcileContext } from "./claim-reconcile-context.ts";
import { writeClaim } from "./claim-steps.ts";
import { type LaunchedInstances, withInstanceDetails } from "./launch.ts";

type FinalizeContext = ClaimReconcileContext & { readonly launches: LaunchedInstances };

const instancePollMs = 5_000;

/** The end of a claim: its Nodes, then its machine, then itself. (03 §1.6) */
export async function finalizeClaim(seen: NodeClaim, claimContext: FinalizeContext): Promise<RequeueAfter | undefined> {
  if (!seen.metadata.finalizers?.includes(finalizers.termination)) return undefined;
  const claim = await withTerminationTimestamp(await withLaunchedInstance(seen, claimContext), claimContext);
  if (await deleteRemainingNodes(claim, claimContext)) return undefined; // their going wakes us
  if (!claim.status?.providerID) return removeClaimFinalizer(claim, claimContext);
  const isGone = await terminateInstanceOf(claim, claimContext);
  const ending = await withInstanceTerminating(claim, claimContext);
  return isGone ? removeClaimFinalizer(ending, claimContext) : { afterMs: instancePollMs };
}

/** Bought, but deleted before we could write that down: without this the machine would be nobody's. (03:S-12) */
async function withLaunchedInstance(claim: NodeClaim, { context, launches }: FinalizeContext): Promise<NodeClaim> {
  const instance = launches.get(claim.metadata.uid ?? "");
  if (claim.status?.providerID || instance === undefined) return claim;
  return writeClaim(context.client, { before: claim, after: withInstanceDetails(claim, instance) });
}

/** A deadline that is there already was set by somebody in more of a hurry: the lock keeps theirs. (03:L-31) */
async function withTerminationTimestamp(claim: NodeClaim, { context, log }: ClaimReconcileContext): Promise<NodeClaim> {
  const { metadata, spec } = claim;
  const graceMs = parseDurationMs(spec.terminationGracePeriod ?? "");
  if (graceMs === undefined || metadata.annotations?.[annotations.terminationTimestamp] !== undefined) return claim;
  const deadline = rfc3339(Date.parse(metadata.deletionTimestamp ?? "") + graceMs);
  const added = { [annotations.terminationTimestamp]: deadline };
  const body = { metadata: { annotations: added } };
  const marked = await mergePatchObject<NodeClaim>(context.client, karpenterTypes.NodeClaim, claim, {
    body,
    hasOptimisticLock: true,
  });
  log.info("annotated nodeclaim", added);
  context.recordEvent(claim, {
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message: `All pods will be deleted by ${deadline}`,
    dedupe: { values: [metadata.uid ?? ""] },
  });
  return marked;
}

/** Nodes that never registered have no finalizer: they go when their machine is gone. (03:L-32) */
async function deleteRemainingNodes(claim: NodeClaim, { context }: ClaimReconcileContext): Promise<boolean> {
  if (!isStatusConditionTrue(claim, "Registered")) return false;
  const nodes = allNodesForClaim(claim, context);
  for (const node of nodes) {
    if (node.metadata.deletionTimestamp === undefined) await deleteExisting(context.client, builtInTypes.Node, node);
  }
  return nodes.length > 0;
}

async function terminateInstanceOf(claim: NodeClaim, { dependencies }: ClaimReconcileContext): Promise<boolean> {
  try {
    await dependencies.cloud.delete(claim);
    return false;
  } catch (error) {
    if (isCloudError(error, "not-found")) return true;
    throw error;
  }
}

async function withInstanceTerminating(claim: NodeClaim, { context }: ClaimReconcileContext): Promise<NodeClaim> {
  const after = withClaimConditionTrue(claim, "InstanceTerminating", context.clock.now());
  return after === claim ? claim : writeClaim(context.client, { before: claim, after });
}

/** 03:L-34. */
async function removeClaimFinalizer(
  claim: NodeClaim,
  { context, dependencies, log, launches }: FinalizeContext,
): Promise<undefined> {
  const left = (claim.metadata.finalizers ?? []).filter((one) => one !== finalizers.termination);
  const body = { metadata: { finalizers: left } };
  await mergePatchObject(context.client, karpenterTypes.NodeClaim, claim, { body, hasOptimisticLock: true });
  launches.delete(claim.metadata.uid ?? "");
  log.info("deleted nodeclaim");
  const claimLabels = claim.metadata.labels ?? {};
  const nodepool = claimLabels[labels.nodePool] ?? "";
  const secondsSince = (time = ""): number => (context.clock.now() - Date.parse(time)) / 1_000;
  const ending = getCondition(claim, "InstanceTerminating")?.lastTransitionTime;
  if (ending !== undefined) {
    dependencies.metrics.observe(
      "nodeclaims_instance_termination_duration_seconds",
      { nodepool },
      secondsSince(ending),
    );
  }
  const lastedSeconds = secondsSince(claim.metadata.deletionTimestamp);
  dependencies.metrics.observe("nodeclaims_termination_duration_seconds", { nodepool }, lastedSeconds);
  const [capacity_type = "", zone = ""] = [claimLabels[labels.capacityType], claimLabels[labels.zone]];
  dependencies.metrics.count("nodeclaims_terminated_total", { nodepool, capacity_type, zone });
  return undefined;
}
