import { podProtection } from "../../api/validation/do-not-disrupt.ts";
import { isActivePod, isDrainable, isEvictable } from "../../core/pod-predicates.ts";
import { backOffMs } from "../../kube/back-off.ts";
import { type Controller, type ControllerContext, reconcileController } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { TokenBucket } from "../../kube/token-bucket.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { perRunState } from "../per-run-state.ts";
import { scaledConcurrency } from "../settings.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import { forceDeleteAfterMs, isForceDeleteDue } from "./force-delete.ts";
import { indexPodsByNode, podView } from "./node-termination-context.ts";
import { forceDeletePod, type QueuedEvictionContext, requestEviction } from "./pod-removal.ts";
import { recordProtectionEvent } from "./protection-event.ts";

const minWorkers = 100;
/** How many evictions a second are tried again with the least of workers. (03 §8.5) */
const minRetriesPerSecond = 100;
const backOff = { baseMs: 100, maxMs: 10_000 };

export interface EvictionDependencies extends ControllerDependencies {
  readonly queue: EvictionQueue;
}

/** Asks pods to leave, one at a time each, until they have or need not. (03 §2.3) */
export function evictionQueueController(dependencies: EvictionDependencies): Controller {
  const { queue, settings } = dependencies;
  const concurrency = scaledConcurrency({ min: minWorkers, max: 5_000 }, settings);
  const perSecond = Math.ceil((concurrency * minRetriesPerSecond) / minWorkers);
  const retries = perRunState(({ clock }) => new TokenBucket({ perSecond, burst: 10 * perSecond }, clock));
  return reconcileController({
    name: "eviction-queue",
    triggers: [],
    kinds: [builtInTypes.Pod, builtInTypes.Node, karpenterTypes.NodeClaim],
    subscribe: (enqueue) => queue.subscribe(enqueue),
    concurrency,
    backOff,
    prepare: indexPodsByNode,
    reconcile: async (key: string, context: ControllerContext): Promise<RequeueAfter | undefined> => {
      const evictionContext = evictionContextOf(key, { context, dependencies });
      const refusal = evictionContext && (await tryEviction(evictionContext));
      if (evictionContext !== undefined && refusal !== undefined) {
        const rateMs = refusal.isFromServer ? retries(context).reserve() : 0;
        return requeueAfterRefusal(evictionContext, {
          refusals: queue.countRefusal(key),
          atLeastMs: Math.max(rateMs, refusal.atLeastMs),
        });
      }
      queue.remove(key);
      return undefined;
    },
  });
}

/** The pod, if it is still the one that was meant. (03:T-41) */
function evictionContextOf(
  key: string,
  { context, dependencies }: { readonly context: ControllerContext; readonly dependencies: EvictionDependencies },
): QueuedEvictionContext | undefined {
  const queued = dependencies.queue.get(key);
  const pod = queued && podView(context).get(`${queued.namespace}/${queued.name}`);
  if (queued === undefined || pod?.metadata.uid !== queued.uid) return undefined;
  return { queued, pod, context, dependencies };
}

/** It has to stay for now. */
interface EvictionRefusal {
  readonly atLeastMs: number;
  /** Of the API server, which is not to be asked too often. */
  readonly isFromServer: boolean;
}

/** Undefined when there is nothing left to do for the pod. (03:T-42) */
async function tryEviction(evictionContext: QueuedEvictionContext): Promise<EvictionRefusal | undefined> {
  const { queued, pod, context } = evictionContext;
  const nowMs = context.clock.now();
  const { deadlineMs } = queued;
  if (deadlineMs !== undefined && isForceDeleteDue(pod, { nowMs, deadlineMs })) {
    await forceDeletePod(evictionContext, deadlineMs);
    return undefined;
  }
  if (!isActivePod(pod) || !isDrainable(pod, nowMs)) return undefined; // it is going, or need not by now
  recordProtectionEvent(pod, context);
  if (!isEvictable(pod, nowMs)) return { atLeastMs: 0, isFromServer: false };
  const blocked = await requestEviction(evictionContext);
  return blocked && { ...blocked, isFromServer: true };
}

/** Grows with each refusal, but not past the moment that changes the answer: an end of protection, a deadline. */
function requeueAfterRefusal(
  { queued, pod, context }: QueuedEvictionContext,
  { refusals, atLeastMs }: { readonly refusals: number; readonly atLeastMs: number },
): RequeueAfter {
  const nowMs = context.clock.now();
  const protection = podProtection(pod, nowMs);
  const freeAt = protection.kind === "until" ? (protection.untilMs ?? Infinity) : Infinity;
  const forcedAt = forceDeleteAfterMs(pod, queued.deadlineMs) + 1;
  const waitMs = Math.max(atLeastMs, backOffMs(refusals, { ...backOff, random: context.random }));
  return { afterMs: Math.min(waitMs, freeAt - nowMs, forcedAt - nowMs) };
}
