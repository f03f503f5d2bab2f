import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { labels } from "../../api/labels.ts";
import { isReschedulable } from "../../core/pod-predicates.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { isKubeError } from "../../kube/kube-error.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import { parseDurationMs } from "../../util/duration.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { objectKeyFromMeta } from "../writes.ts";
import { nodeClaimView } from "./claim-lookups.ts";

/** Why a claim is deleted without anybody asking for it. (03 §6.1) */
export type DisruptionCause =
  | "expired"
  | "unhealthy"
  | "garbage_collected"
  | "insufficient_capacity"
  | "nodeclass_not_ready"
  | "launch_timeout"
  | "registration_timeout";

export interface DisruptClaimOptions {
  readonly reason: DisruptionCause;
  readonly context: ControllerContext;
  readonly dependencies: Pick<ControllerDependencies, "metrics">;
  /** Those on its node; the ones that need another place are counted. */
  readonly pods?: readonly Pod[] | undefined;
}

/** Deletes a claim on purpose, and counts it; false where it was on its way out already. (03:S-11, S-13) */
export async function disruptClaim(
  claim: NodeClaim,
  { reason, context, dependencies, pods = [] }: DisruptClaimOptions,
): Promise<boolean> {
  if (!(await deleteUnlessDeleting(claim, context))) return false;
  countDisruption(claim, { reason, metrics: dependencies.metrics, pods });
  return true;
}

async function deleteUnlessDeleting({ metadata }: NodeClaim, context: ControllerContext): Promise<boolean> {
  const { name = "", uid } = metadata;
  const seen = nodeClaimView(context).get(name);
  if (seen === undefined || seen.metadata.uid !== uid || seen.metadata.deletionTimestamp !== undefined) return false;
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  try {
    await context.client.delete(karpenterTypes.NodeClaim, objectKeyFromMeta(metadata), preconditions);
    return true;
  } catch (error) {
    if (isKubeError(error, "not-found")) return false;
    throw error; // a conflict too: whether the one we meant is gone, the next look at the views says
  }
}

interface CountDisruptionOptions {
  readonly reason: string;
  readonly metrics: Metrics;
  readonly pods: readonly Pod[];
}

function countDisruption({ metadata, spec }: NodeClaim, { reason, metrics, pods }: CountDisruptionOptions): void {
  const disruptionLabels = {
    reason,
    nodepool: metadata.labels?.[labels.nodePool] ?? "",
    capacity_type: metadata.labels?.[labels.capacityType] ?? "",
    consolidation_policy: "",
    termination_mode: terminationMode(spec),
  };
  metrics.count("nodeclaims_disrupted_total", disruptionLabels);
  const reschedulableCount = pods.filter(isReschedulable).length;
  if (reschedulableCount > 0) metrics.count("pods_disruption_initiated_total", disruptionLabels, reschedulableCount);
}

/** How long its pods may hold it: for ever, for a while, or not at all. (03 §6.1) */
export function terminationMode({
  terminationGracePeriod,
}: Pick<NodeClaim["spec"], "terminationGracePeriod">): "graceful" | "eventual" | "forceful" {
  if (terminationGracePeriod === undefined) return "graceful";
  return (parseDurationMs(terminationGracePeriod) ?? 0) > 0 ? "eventual" : "forceful";
}
