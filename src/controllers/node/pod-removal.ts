import { getCondition } from "../../api/conditions/set-condition.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { isKubeError, type KubeError } from "../../kube/kube-error.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { claimForNode, nodeView } from "../node-claim/claim-lookups.ts";
import type { QueuedEviction } from "./eviction-queue.ts";
import { forceDeleteGraceSeconds } from "./force-delete.ts";
import type { PodKubeObject } from "./node-termination-context.ts";

/** A pod that leaves, and what it takes to tell of it. */
export interface QueuedEvictionContext {
  readonly queued: QueuedEviction;
  readonly pod: PodKubeObject;
  readonly context: ControllerContext;
  readonly dependencies: Pick<ControllerDependencies, "metrics" | "log">;
}

/** How the API server says that the pod's budget has to be waited for. */
export interface EvictionBlocked {
  readonly atLeastMs: number;
}

/** Asks by the rules, with all the pod's grace. A pod that is gone, or another by now, has left. (03:T-43, T-44, T-52) */
export async function requestEviction(evictionContext: QueuedEvictionContext): Promise<EvictionBlocked | undefined> {
  const { queued, context, dependencies } = evictionContext;
  const { name, namespace, uid } = queued;
  const eviction = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await context.client.create(builtInTypes.Pod, eviction, { subresource: "eviction", name });
  } catch (error) {
    return handleEvictionError(evictionContext, error);
  }
  dependencies.metrics.count("pods_eviction_requests_total", { code: "200" });
  recordPodRemoved(evictionContext, { reason: "Evicted", message: `Evicted pod: ${drainReason(evictionContext)}` });
  return undefined;
}

/** Two budgets over one pod are a 500 of their own. (03:T-44) */
const multipleBudgetsMessage = /more than one PodDisruptionBudget/;

function handleEvictionError(evictionContext: QueuedEvictionContext, error: unknown): EvictionBlocked | undefined {
  if (!isKubeError(error)) throw error;
  if (error.status !== undefined) {
    evictionContext.dependencies.metrics.count("pods_eviction_requests_total", { code: String(error.status.code) });
  }
  if (error.code === "not-found" || error.code === "conflict") return undefined;
  const hasMultipleBudgets = error.code === "server-error" && multipleBudgetsMessage.test(error.message);
  if (!hasMultipleBudgets && error.code !== "too-many-requests") throw error;
  recordEvictionBlocked(
    evictionContext,
    hasMultipleBudgets ? "more than one PodDisruptionBudget selects it" : budgetText(error),
  );
  return { atLeastMs: error.retryAfterMs ?? 0 };
}

/** With the budget's name, where the server gives it. */
function budgetText({ status }: KubeError): string {
  const cause = status?.details?.causes?.[0]?.message;
  return `a PodDisruptionBudget prevents pod evictions${cause === undefined ? "" : ` (${cause})`}`;
}

/** One pod speaks for all that are blocked alike: a node has only so many events. (03 §6.2) */
function recordEvictionBlocked({ queued, context }: QueuedEvictionContext, because: string): void {
  const node = nodeView(context).get(queued.node);
  if (node === undefined) return;
  context.recordEvent(node, {
    type: "Warning",
    reason: "FailedDraining",
    message: `Failed to drain node, pod ${queued.namespace}/${queued.name} cannot be evicted: ${because}`,
    dedupe: { values: [node.metadata.uid ?? "", "blocked"] },
  });
}

/** Past budgets and protection: the node's deadline leaves no more time. (03:T-51) */
export async function forceDeletePod(evictionContext: QueuedEvictionContext, deadlineMs: number): Promise<void> {
  const { queued, context, dependencies } = evictionContext;
  const { name, namespace, uid } = queued;
  const gracePeriodSeconds = forceDeleteGraceSeconds({ nowMs: context.clock.now(), deadlineMs });
  try {
    await context.client.delete(builtInTypes.Pod, { name, namespace }, { gracePeriodSeconds, preconditions: { uid } });
  } catch (error) {
    if (isKubeError(error, "not-found")) return;
    throw error;
  }
  dependencies.log
    .with({ controller: "eviction-queue", Pod: { name, namespace } })
    .debug("deleting pod", { gracePeriodSeconds });
  const message = `Deleted pod with a grace of ${gracePeriodSeconds}s to meet the deadline of its node, past budgets and do-not-disrupt`;
  recordPodRemoved(evictionContext, { reason: "Disrupted", message });
}

function recordPodRemoved(
  evictionContext: QueuedEvictionContext,
  event: { readonly reason: string; readonly message: string },
): void {
  const { pod, queued, context, dependencies } = evictionContext;
  dependencies.metrics.count("pods_drained_total", { reason: drainReason(evictionContext) });
  context.recordEvent(pod, { type: "Normal", ...event, dedupe: { values: [queued.uid] } });
}

/** Why the node goes, as its claim tells. (03:T-45) */
function drainReason({ queued, context }: QueuedEvictionContext): string {
  const node = nodeView(context).get(queued.node);
  const claim = node && claimForNode(node, context);
  if (claim === undefined) return "";
  const found = getCondition(claim, "DisruptionReason");
  return found?.status === "True" ? (found.reason ?? "") : "Forceful Termination";
}
