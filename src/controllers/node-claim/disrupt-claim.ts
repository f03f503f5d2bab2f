import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import type { ConsolidationPolicy } from "../../api/vocabulary.ts";
import { isReschedulable } from "../../core/pod-predicates.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { parseDurationMs } from "../../util/duration.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { snakeCase } from "../snake-case.ts";
import { objectKeyFromMeta } from "../writes.ts";
import { nodeClaimView, poolNameOf } from "./claim-lookups.ts";

/** Why a controller deletes a claim by itself. (03 §6.1) */
export type DisruptionCause =
  | "empty"
  | "underutilized"
  | "drifted"
  | "expired"
  | "unhealthy"
  | "garbage_collected"
  | "insufficient_capacity"
  | "nodeclass_not_ready"
  | "launch_timeout"
  | "registration_timeout";

export interface DisruptClaimOptions {
  readonly reason: DisruptionCause;
  /** The pods on its node; those that will be rescheduled are counted. */
  readonly pods?: readonly Pod[] | undefined;
  /** Of consolidation. */
  readonly consolidationPolicy?: ConsolidationPolicy | undefined;
}

/** Deletes a claim and counts it; false if it was already being deleted. (03:S-11, S-13) */
export async function disruptClaim(
  claim: NodeClaim,
  options: DisruptClaimOptions,
  context: KarpenterContext,
): Promise<boolean> {
  if (!(await deleteUnlessDeleting(claim, context))) return false;
  countDisruption(claim, options, context);
  return true;
}

async function deleteUnlessDeleting({ metadata }: NodeClaim, context: KarpenterContext): Promise<boolean> {
  const { name = "", uid } = metadata;
  const seen = nodeClaimView(context).get(name);
  if (seen === undefined || seen.metadata.uid !== uid || seen.metadata.deletionTimestamp !== undefined) return false;
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  try {
    await context.client.delete(karpenterTypes.NodeClaim, objectKeyFromMeta(metadata), preconditions);
    return true;
  } catch (error) {
    if (isKubeError(error, "not-found")) return false;
    throw error; // a conflict too: the next reconcile sees whether the claim we meant is gone
  }
}

function countDisruption(
  { metadata, spec }: NodeClaim,
  { reason, pods = [], consolidationPolicy }: DisruptClaimOptions,
  { metrics }: KarpenterContext,
): void {
  const disruptionLabels = {
    reason,
    nodepool: poolNameOf({ metadata }) ?? "",
    capacity_type: metadata.labels?.[labels.capacityType] ?? "",
    consolidation_policy: consolidationPolicy === undefined ? "" : snakeCase(consolidationPolicy),
    termination_mode: terminationMode(spec),
  };
  metrics.count("nodeclaims_disrupted_total", disruptionLabels);
  const reschedulableCount = pods.filter(isReschedulable).length;
  if (reschedulableCount > 0) metrics.count("pods_disruption_initiated_total", disruptionLabels, reschedulableCount);
}

/** Whether its pods can delay termination without limit, up to a deadline, or not at all. (03 §6.1) */
function terminationMode({
  terminationGracePeriod,
}: Pick<NodeClaim["spec"], "terminationGracePeriod">): "graceful" | "eventual" | "forceful" {
  if (terminationGracePeriod === undefined) return "graceful";
  return (parseDurationMs(terminationGracePeriod) ?? 0) > 0 ? "eventual" : "forceful";
}
