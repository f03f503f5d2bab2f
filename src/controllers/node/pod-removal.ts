import { getCondition } from "../../api/conditions/set-condition.ts";
import { isKubeError, type KubeError } from "../../kube/kube-error.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { claimForNode, nodeView } from "../node-claim/claim-lookups.ts";
import type { QueuedEviction } from "./eviction-queue.ts";
import { forceDeleteGraceSeconds } from "./force-delete.ts";
import type { PodKubeObject } from "./pods-of-node.ts";

/** A pod to evict: as it was queued, and as it is now. */
export interface PodEviction {
  readonly queued: QueuedEviction;
  readonly pod: PodKubeObject;
}

/** When to try again, if the API server refuses the eviction for now. */
type EvictionResult = { readonly atLeastMs: number } | undefined;

/** Evicts the pod with its full grace period. A pod that is gone, or replaced by another, counts as evicted. (03:T-43, T-44, T-52) */
export async function requestEviction(eviction: PodEviction, context: KarpenterContext): Promise<EvictionResult> {
  const { name, namespace, uid } = eviction.queued;
  const body = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await context.client.create(builtInTypes.Pod, body, { subresource: "eviction", name });
  } catch (error) {
    return onEvictionError(eviction, error, context);
  }
  context.metrics.count("pods_eviction_requests_total", { code: "200" });
  const message = `Evicted pod: ${drainReason(eviction, context)}`;
  recordPodRemoved(eviction, { reason: "Evicted", message }, context);
  return undefined;
}

/** The API server answers 500 if several budgets select the pod. (03:T-44) */
const multipleBudgetsMessage = /more than one PodDisruptionBudget/;

function onEvictionError(eviction: PodEviction, error: unknown, context: KarpenterContext): EvictionResult {
  if (!isKubeError(error)) throw error;
  if (error.status !== undefined) {
    context.metrics.count("pods_eviction_requests_total", { code: String(error.status.code) });
  }
  if (error.code === "not-found" || error.code === "conflict") return undefined;
  const hasMultipleBudgets = error.code === "server-error" && multipleBudgetsMessage.test(error.message);
  if (!hasMultipleBudgets && error.code !== "too-many-requests") throw error;
  const because = hasMultipleBudgets ? "more than one PodDisruptionBudget selects it" : budgetText(error);
  recordEvictionBlocked(eviction.queued, because, context);
  return { atLeastMs: error.retryAfterMs ?? 0 };
}

/** With the budget's name, if the server gives it. */
function budgetText({ status }: KubeError): string {
  const cause = status?.details?.causes?.[0]?.message;
  return `a PodDisruptionBudget prevents pod evictions${cause === undefined ? "" : ` (${cause})`}`;
}

/** One event for all blocked pods of a node: its events are rate limited. (03 §6.2) */
function recordEvictionBlocked(queued: QueuedEviction, because: string, context: KarpenterContext): void {
  const node = nodeView(context).get(queued.node);
  if (node === undefined) return;
  const { namespace, name } = queued;
  context.log.debug("pod cannot be evicted", {
    Node: { name: queued.node },
    Pod: { namespace, name },
    error: because,
  });
  context.recordEvent(node, {
    type: "Warning",
    reason: "FailedDraining",
    message: `Failed to drain node, pod ${queued.namespace}/${queued.name} cannot be evicted: ${because}`,
    dedupe: { values: [node.metadata.uid ?? "", "blocked"] },
  });
}

/** Deletes the pod whatever budgets and do-not-disrupt say: the node's deadline leaves no more time. (03:T-51) */
export async function forceDeletePod(
  eviction: PodEviction,
  deadlineMs: number,
  context: KarpenterContext,
): Promise<void> {
  const { client, clock, log } = context;
  const { name, namespace, uid } = eviction.queued;
  const gracePeriodSeconds = forceDeleteGraceSeconds({ nowMs: clock.now(), deadlineMs });
  try {
    await client.delete(builtInTypes.Pod, { name, namespace }, { gracePeriodSeconds, preconditions: { uid } });
  } catch (error) {
    if (isKubeError(error, "not-found")) return;
    throw error;
  }
  log.debug("deleting pod", { Pod: { name, namespace }, gracePeriodSeconds });
  const message = `Deleted pod with a grace period of ${gracePeriodSeconds}s to meet its node's termination deadline, overriding PodDisruptionBudgets and do-not-disrupt`;
  recordPodRemoved(eviction, { reason: "Disrupted", message }, context);
}

type RemovalEvent = { readonly reason: string; readonly message: string };

function recordPodRemoved(eviction: PodEviction, event: RemovalEvent, context: KarpenterContext): void {
  const { pod, queued } = eviction;
  context.metrics.count("pods_drained_total", { reason: drainReason(eviction, context) });
  context.recordEvent(pod, { type: "Normal", ...event, dedupe: { values: [queued.uid] } });
}

/** Why the node is terminated, as its claim has it. (03:T-45) */
function drainReason({ queued }: PodEviction, context: KarpenterContext): string {
  const node = nodeView(context).get(queued.node);
  const claim = node && claimForNode(node, context);
  if (claim === undefined) return "";
  const found = getCondition(claim, "DisruptionReason");
  return found?.status === "True" ? (found.reason ?? "") : "Forceful Termination";
}
