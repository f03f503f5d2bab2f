import { podProtection } from "../../api/validation/do-not-disrupt.ts";
import { isActivePod, isDrainable, isEvictable } from "../../core/pod-predicates.ts";
import type { Controller } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { backOffMs } from "../../util/back-off.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { indexClaimsAndNodes } from "../node-claim/claim-lookups.ts";
import { scaledConcurrency } from "../settings.ts";
import { drainPollMs } from "./drain-node.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import { forceDeleteAfterMs, isForceDeleteDue } from "./force-delete.ts";
import { LargestFirst } from "./largest-first.ts";
import { forceDeletePod, type PodEviction, requestEviction } from "./pod-removal.ts";
import { podView } from "./pods-of-node.ts";
import { recordProtectionEvent } from "./protection-event.ts";

const minWorkers = 100;
/** How many refused evictions are retried per second with the fewest workers. (03 §8.5) */
const minRetriesPerSecond = 100;
const backOff = { baseMs: 100, maxMs: 10_000 };

/** Evicts the pods of the queue, each until it is gone or need not go. (03 §2.3) */
export function evictionQueueController(dependencies: ControllerDependencies, queue: EvictionQueue): Controller {
  const concurrency = scaledConcurrency({ min: minWorkers, max: 5_000 }, dependencies.settings);
  const perSecond = Math.ceil((concurrency * minRetriesPerSecond) / minWorkers);
  return karpenterController(dependencies, {
    name: "eviction-queue",
    triggers: [],
    kinds: [builtInTypes.Pod, builtInTypes.Node, karpenterTypes.NodeClaim],
    reads: [
      { of: builtInTypes.Pod, withinMs: drainPollMs, because: "while its node drains, a pod is queued again" },
      { of: builtInTypes.Node, because: "events are about the node of a pod" },
      { of: karpenterTypes.NodeClaim, because: "events and metrics name the reason of its disruption" },
    ],
    concurrency,
    backOff,
    start: (context) => {
      indexClaimsAndNodes(context);
      return new TokenBucket({ perSecond, burst: 10 * perSecond }, context.clock);
    },
    subscribe: (enqueue, context) => {
      const podOf = (key: string) => evictionOf(key, queue, context)?.pod;
      const collected = new LargestFirst({ clock: context.clock, podOf, handOn: enqueue });
      const hasDeadline = (key: string): boolean => queue.get(key)?.deadlineMs !== undefined;
      const unsubscribe = queue.subscribe((key) => (hasDeadline(key) ? enqueue(key) : collected.add(key)));
      return () => {
        unsubscribe();
        collected.stop();
      };
    },
    reconcile: async (key, context, retries) => {
      const eviction = evictionOf(key, queue, context);
      const refusal = eviction && (await tryEviction(eviction, context));
      if (eviction !== undefined && refusal !== undefined) {
        const rateMs = refusal.isFromServer ? retries.reserve() : 0;
        const atLeastMs = Math.max(rateMs, refusal.atLeastMs);
        return requeueAfterRefusal(eviction, { refusals: queue.countRefusal(key), atLeastMs }, context);
      }
      queue.remove(key);
      return undefined;
    },
  });
}

/** The pod, if it is still the one that was queued. (03:T-41) */
function evictionOf(key: string, queue: EvictionQueue, context: KarpenterContext): PodEviction | undefined {
  const queued = queue.get(key);
  const pod = queued && podView(context).get(`${queued.namespace}/${queued.name}`);
  return queued === undefined || pod?.metadata.uid !== queued.uid ? undefined : { queued, pod };
}

/** The pod has to stay for now. */
interface EvictionRefusal {
  readonly atLeastMs: number;
  /** Refused by the API server, which is not to be asked too often. */
  readonly isFromServer: boolean;
}

/** Undefined when there is nothing left to do for the pod. (03:T-42) */
async function tryEviction(eviction: PodEviction, context: KarpenterContext): Promise<EvictionRefusal | undefined> {
  const { queued, pod } = eviction;
  const nowMs = context.clock.now();
  const { deadlineMs } = queued;
  if (deadlineMs !== undefined && isForceDeleteDue(pod, { nowMs, deadlineMs })) {
    await forceDeletePod(eviction, deadlineMs, context);
    return undefined;
  }
  if (!isActivePod(pod) || !isDrainable(pod, nowMs)) return undefined; // terminating, or it need not be drained any more
  recordProtectionEvent(pod, context);
  if (!isEvictable(pod, nowMs)) return { atLeastMs: 0, isFromServer: false };
  const blocked = await requestEviction(eviction, context);
  return blocked && { ...blocked, isFromServer: true };
}

/** Backs off with each refusal, but not past the moment that changes the answer: do-not-disrupt expires, or the deadline nears. */
function requeueAfterRefusal(
  { queued, pod }: PodEviction,
  { refusals, atLeastMs }: { readonly refusals: number; readonly atLeastMs: number },
  { clock, random }: KarpenterContext,
): RequeueAfter {
  const nowMs = clock.now();
  const protection = podProtection(pod, nowMs);
  const freeAt = protection.kind === "until" ? (protection.untilMs ?? Infinity) : Infinity;
  const forcedAt = forceDeleteAfterMs(pod, queued.deadlineMs) + 1;
  const waitMs = Math.max(atLeastMs, backOffMs(refusals, { ...backOff, random }));
  return { afterMs: Math.min(waitMs, freeAt - nowMs, forcedAt - nowMs) };
}
