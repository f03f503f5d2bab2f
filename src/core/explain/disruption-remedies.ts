import { type BindingBudget, budgetOutlook } from "../../api/budgets/budget-outlook.ts";
import { namespacedName } from "../../api/object.ts";
import { formatDurationMs } from "../../util/duration.ts";
import { poolBudgets } from "../disruption/budgets.ts";
import type { DisruptionSnapshot } from "../disruption/snapshot.ts";
import type { DecisionCause, VerdictCause } from "../disruption/verdict.ts";
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
    case "budget":
      return budgetRemedies(cause, snapshot);
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
      return ["free room on other nodes, or relax what keeps the pods apart"];
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
function budgetRemedies(
  { pool, reason, allowed, disrupting }: Extract<VerdictCause, { readonly code: "budget" }>,
  snapshot: DisruptionSnapshot,
): readonly string[] {
  const { nowMs } = snapshot;
  const nodes = poolBudgets(snapshot, reason).get(pool)?.nodes ?? 0;
  const budgets = snapshot.pools.get(pool)?.nodePool.spec.disruption.budgets;
  const isTakenByOthers = disrupting < allowed;
  const query = { reason, nodes, disrupting: isTakenByOthers ? allowed : disrupting, nowMs };
  const texts = budgetOutlook(budgets, query).binding.map((one) => budgetRemedy(one, { nodePool: pool, nowMs }));
  if (isTakenByOthers) return ["wait until the nodes that go first are gone", ...texts];
  return disrupting > 0
    ? [`wait until fewer nodes are being disrupted or not ready (now ${disrupting})`, ...texts]
    : texts;
}

function budgetRemedy(
  { index, budget, limit, untilMs, problem }: BindingBudget,
  { nodePool, nowMs }: { readonly nodePool: string; readonly nowMs: number },
): string {
  const where = `spec.disruption.budgets[${index}] of NodePool ${nodePool}`;
  if (problem !== undefined) return `correct ${where}: ${problem}`;
  const nodes = `nodes: ${JSON.stringify(budget.nodes ?? "10%")}, which is ${limit} now`;
  if (budget.schedule === undefined) return `raise ${where} (${nodes})`;
  const window = `schedule ${JSON.stringify(budget.schedule)}, duration ${budget.duration ?? ""}`;
  return untilMs === undefined
    ? `change ${where} (${nodes}; ${window}; never ends)`
    : `wait for the end of its window, or change ${where} (${nodes}; ${window}; ends in ${durationText(untilMs - nowMs)})`;
}

/** The feature gate without which a node is not replaced. */
export function gateRemedies({ code }: DecisionCause): readonly string[] {
  return code === "needs-more-nodes" ? ["switch the feature gate MultiReplacement on"] : [];
}

const nodesShown = 5;

export function waitRemedy(nodes: readonly string[]): string {
  const shown = nodes.slice(0, nodesShown).join(", ");
  const more = nodes.length > nodesShown ? ` and ${nodes.length - nodesShown} more` : "";
  return `wait until ${shown}${more} ${nodes.length === 1 ? "is" : "are"} gone`;
}

/** How long something lasts, as people read it: `5h`, `3m20s`. */
export function durationText(ms: number): string {
  const text = formatDurationMs(Math.max(0, Math.ceil(ms / 1_000) * 1_000));
  return text.replace(/(?<=[hm])0s$/, "").replace(/(?<=h)0m$/, "");
}
