import { getCondition, isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { finalizers, labels } from "../../api/labels.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { parseDurationMs } from "../../util/duration.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { deleteExisting, mergePatchObject } from "../writes.ts";
import { withClaimConditionTrue } from "./claim-conditions.ts";
import { allNodesForClaim } from "./claim-lookups.ts";
import { writeClaim } from "./claim-steps.ts";
import { deleteInstance } from "./delete-instance.ts";
import { type LaunchedInstances, withInstanceDetails } from "./launch.ts";
import {
  annotateTerminationTimestamp,
  recordTerminationTimestamp,
  terminationTimestampOf,
} from "./termination-timestamp.ts";

export const instancePollMs = 5_000;

/** Deletes what belongs to a deleted claim: its Nodes, its instance, then the finalizer. (03 §1.6) */
export async function finalizeClaim(
  seen: NodeClaim,
  launches: LaunchedInstances,
  context: KarpenterContext,
): Promise<ReconcileResult> {
  if (!seen.metadata.finalizers?.includes(finalizers.termination)) return undefined;
  const claim = await withTerminationTimestamp(await withLaunchedInstance(seen, launches, context), context);
  if (await deleteRemainingNodes(claim, context)) return undefined; // their deletion wakes us
  if (!claim.status?.providerID) return removeClaimFinalizer(claim, launches, context);
  const isGone = await deleteInstance(claim, context);
  const terminating = await withInstanceTerminating(claim, context);
  return isGone ? removeClaimFinalizer(terminating, launches, context) : { afterMs: instancePollMs };
}

/** Launched, but deleted before the provider id was written: without this the instance would leak. (03:S-12) */
async function withLaunchedInstance(
  claim: NodeClaim,
  launches: LaunchedInstances,
  { client }: KarpenterContext,
): Promise<NodeClaim> {
  const instance = launches.get(claim.metadata.uid ?? "");
  if (claim.status?.providerID || instance === undefined) return claim;
  return writeClaim(client, { before: claim, after: withInstanceDetails(claim, instance) });
}

/** An existing deadline is kept: whoever set it wanted it sooner. (03:L-31) */
async function withTerminationTimestamp(claim: NodeClaim, context: KarpenterContext): Promise<NodeClaim> {
  const { metadata, spec } = claim;
  const graceMs = parseDurationMs(spec.terminationGracePeriod ?? "");
  if (graceMs === undefined || terminationTimestampOf(claim) !== undefined) return claim;
  const atMs = Date.parse(metadata.deletionTimestamp ?? "") + graceMs;
  const annotated = await annotateTerminationTimestamp(claim, { atMs, hasOptimisticLock: true }, context);
  recordTerminationTimestamp(claim, terminationTimestampOf(annotated) ?? "", context);
  return annotated;
}

/** True while any is left. Unregistered Nodes have no finalizer: they go with their instance. (03:L-32) */
async function deleteRemainingNodes(claim: NodeClaim, context: KarpenterContext): Promise<boolean> {
  if (!isStatusConditionTrue(claim, "Registered")) return false;
  const nodes = allNodesForClaim(claim, context);
  for (const node of nodes) {
    if (node.metadata.deletionTimestamp === undefined) await deleteExisting(context.client, builtInTypes.Node, node);
  }
  return nodes.length > 0;
}

async function withInstanceTerminating(claim: NodeClaim, { client, clock }: KarpenterContext): Promise<NodeClaim> {
  const after = withClaimConditionTrue(claim, "InstanceTerminating", clock.now());
  return after === claim ? claim : writeClaim(client, { before: claim, after });
}

/** Removes our finalizer, so that the claim is gone, and records how long its termination took. (03:L-34) */
async function removeClaimFinalizer(
  claim: NodeClaim,
  launches: LaunchedInstances,
  { client, log, clock, metrics }: KarpenterContext,
): Promise<undefined> {
  const left = (claim.metadata.finalizers ?? []).filter((one) => one !== finalizers.termination);
  const body = { metadata: { finalizers: left } };
  await mergePatchObject(client, karpenterTypes.NodeClaim, claim, { body, hasOptimisticLock: true });
  launches.delete(claim.metadata.uid ?? "");
  log.info("deleted nodeclaim");
  const claimLabels = claim.metadata.labels ?? {};
  const nodepool = claimLabels[labels.nodePool] ?? "";
  const secondsSince = (time = ""): number => (clock.now() - Date.parse(time)) / 1_000;
  const terminatingSince = getCondition(claim, "InstanceTerminating")?.lastTransitionTime;
  if (terminatingSince !== undefined) {
    const seconds = secondsSince(terminatingSince);
    metrics.observe("nodeclaims_instance_termination_duration_seconds", { nodepool }, seconds);
  }
  const totalSeconds = secondsSince(claim.metadata.deletionTimestamp);
  metrics.observe("nodeclaims_termination_duration_seconds", { nodepool }, totalSeconds);
  const [capacity_type = "", zone = ""] = [claimLabels[labels.capacityType], claimLabels[labels.zone]];
  metrics.count("nodeclaims_terminated_total", { nodepool, capacity_type, zone });
  return undefined;
}
