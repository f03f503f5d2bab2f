import type { BindingBudget } from "../../api/budgets/budget-outlook.ts";
import { namespacedName } from "../../api/object.ts";
import { formatDurationMs } from "../../util/duration.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { VerdictCause } from "../disruption/verdict.ts";
import type { StateNode } from "../round/cluster-snapshot.ts";

export interface RemedyContext {
  readonly snapshot: DisruptionSnapshot;
  readonly stateNode: StateNode;
}

/** What would end a cause, in instructions without a full stop; none where only time or other nodes help. */
export function remediesFor(cause: VerdictCause, { snapshot, stateNode }: RemedyContext): readonly string[] {
  const pool = `NodePool ${stateNode.nodePool ?? ""}`;
  switch (cause.code) {
    case "no-node":
    case "not-initialized":
      return [
        "wait until the Node is registered, ready and has its resources; kubectl describe nodeclaim says what is missing",
      ];
    case "nominated":
      return ["wait: the nomination ends when the pod runs, or within seconds"];
    case "node-protected":
      return ["remove the annotation karpenter.sh/do-not-disrupt from the Node"];
    case "no-pool-label":
    case "missing-label":
      return ["put the label back on the Node"];
    case "pool-not-found":
      return [`create NodePool ${cause.pool} again, or make its node class ready; or delete the NodeClaim`];
    case "pod-protected":
      return [`remove the annotation karpenter.sh/do-not-disrupt from pod ${cause.pod}`];
    case "pdb":
      return pdbRemedies(cause, { snapshot, stateNode });
    case "static-pool":
      return [`lower spec.replicas of ${pool}: nodes of a static pool go when it shrinks or when they have drifted`];
    case "buffer-pods":
      return ["lower the replicas or the limits of the CapacityBuffer"];
    case "consolidation-disabled":
      return [`set spec.disruption.consolidateAfter of ${pool} to a duration`];
    case "policy-when-empty":
      return [`set spec.disruption.consolidationPolicy of ${pool} to WhenEmptyOrUnderutilized`];
    case "not-consolidatable":
      return [`lower spec.disruption.consolidateAfter of ${pool}`];
    case "unknown-instance-type":
      return ["delete the NodeClaim: what is no longer offered has no price to compare with"];
    case "held-back":
      return ["find out why the replacement failed: kubectl get events, kubectl get nodeclaims"];
    case "node-limit":
      return [`raise spec.limits.nodes of ${pool}`];
    case "no-room":
      return [`free ${cause.resource} on other nodes, or allow ${pool} larger instance types`];
    case "pods-unschedulable":
      return [
        "relax what keeps the pods from other nodes (karpenter explain pod shows it for a pending pod), or free room on them",
      ];
    case "needs-more-nodes":
      return ["free room on other nodes, or relax what keeps the pods apart: a node is replaced by one node"];
    case "no-cheaper-type":
    case "same-type":
      return [`allow ${pool} cheaper instance types or capacity types, or lower the requests of the pods`];
    case "min-values":
      return [`lower minValues of ${cause.labels.join(", ")} in ${pool}`];
    case "spot-to-spot-disabled":
      return ["switch the feature gate SpotToSpotConsolidation on"];
    case "spot-flexibility":
      return [`allow ${pool} at least ${cause.needed} spot instance types that are cheaper`];
    case "score":
      return [`set spec.disruption.consolidationPolicy of ${pool} to WhenEmptyOrUnderutilized`];
    case "saving-too-small":
      return [`lower the annotation karpenter.sh/consolidation-min-saving of NodePool ${cause.pool}`];
    case "min-saving-invalid":
      return [`set the annotation to dollars an hour ("0.05") or a share ("10%"), or remove it`];
    case "undoes-recent-move":
      return [
        "find out why the pods did not stay where they were moved to: kubectl get events; it is tried again when they, or prices, change",
      ];
    default:
      return [];
  }
}

function pdbRemedies(
  { pod: name, budgets }: { readonly pod: string; readonly budgets: readonly string[] },
  { snapshot, stateNode }: RemedyContext,
): readonly string[] {
  if (budgets.length > 1) {
    return ["leave only one PodDisruptionBudget that selects the pod: evictions with several are refused"];
  }
  const pod = stateNode.pods.find(({ metadata }) => namespacedName(metadata) === name);
  const never = pod !== undefined && snapshot.pdbs.matching(pod).some(({ isFullyBlocking }) => isFullyBlocking);
  return never
    ? ["raise maxUnavailable or lower minAvailable: as it is, it never allows an eviction"]
    : ["wait until more of its pods are healthy", "add replicas, raise maxUnavailable or lower minAvailable"];
}

/** What each budget that holds nodes back says, and what to do about it. */
export function budgetRemedies(
  binding: readonly BindingBudget[],
  { nodePool, nowMs, disrupting }: { readonly nodePool: string; readonly nowMs: number; readonly disrupting: number },
): readonly string[] {
  const texts = binding.map(({ index, budget, limit, untilMs, problem }) => {
    const where = `spec.disruption.budgets[${index}] of NodePool ${nodePool}`;
    if (problem !== undefined) return `correct ${where}: ${problem}`;
    const nodes = `nodes: ${JSON.stringify(budget.nodes ?? "10%")}, which is ${limit} now`;
    if (budget.schedule === undefined) return `raise ${where} (${nodes})`;
    const window = `schedule ${JSON.stringify(budget.schedule)}, duration ${budget.duration ?? ""}`;
    const ends = untilMs === undefined ? "never ends" : `ends in ${formatDurationMs(wholeSeconds(untilMs - nowMs))}`;
    return `wait for the end of its window, or change ${where} (${nodes}; ${window}; ${ends})`;
  });
  return disrupting > 0
    ? [`wait until fewer nodes are being disrupted or not ready (now ${disrupting})`, ...texts]
    : texts;
}

/** How long something lasts, as people read it. */
export function wholeSeconds(ms: number): number {
  return Math.max(0, Math.ceil(ms / 1_000) * 1_000);
}
