import { podProtection } from "../../api/validation/do-not-disrupt.ts";
import { isActive, isDrainable, isEvictable } from "../../core/provisionable.ts";
import { backOffMs } from "../../kube/back-off.ts";
import { type Loop, type LoopWorld, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import { TokenBucket } from "../../kube/token-bucket.ts";
import { memory } from "../memory.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import { forcedAfter, isForcedNow } from "./force.ts";
import { indexNodes, podsIn } from "./node-scene.ts";
import { type Departure, evict, forceDelete } from "./pod-removal.ts";
import { tellProtection } from "./protection-events.ts";

const leastWorkers = 100;
/** How many evictions a second are tried again with the least of workers. (03 §8.5) */
const leastRate = 100;
const backOff = { baseMs: 100, maxMs: 10_000 };

export interface EvictionParts extends Parts {
  readonly queue: EvictionQueue;
}

/** Asks pods to leave, one at a time each, until they have or need not. (03 §2.3) */
export function evictionLoop(parts: EvictionParts): Loop {
  const { queue, settings } = parts;
  const concurrency = workers({ min: leastWorkers, max: 5_000 }, settings);
  const perSecond = Math.ceil((concurrency * leastRate) / leastWorkers);
  const retries = memory(({ clock }) => new TokenBucket({ perSecond, burst: 10 * perSecond }, clock));
  return reconcileLoop({
    name: "eviction-queue",
    triggers: [],
    kinds: [builtIn.Pod, builtIn.Node, custom.NodeClaim],
    wake: (enqueue) => queue.subscribe(enqueue),
    concurrency,
    backOff,
    prepare: indexNodes,
    reconcile: async (key: string, world: LoopWorld): Promise<LookAgain | undefined> => {
      const departure = departureOf(key, { world, parts });
      const refusal = departure && (await attempt(departure));
      if (departure !== undefined && refusal !== undefined) {
        const rateMs = refusal.isAnswer ? retries(world).reserve() : 0;
        return patience(departure, { refusals: queue.refuse(key), atLeastMs: Math.max(rateMs, refusal.atLeastMs) });
      }
      queue.drop(key);
      return undefined;
    },
  });
}

/** The pod, if it is still the one that was meant. (03:T-41) */
function departureOf(
  key: string,
  { world, parts }: { readonly world: LoopWorld; readonly parts: EvictionParts },
): Departure | undefined {
  const leaving = parts.queue.get(key);
  const pod = leaving && podsIn(world).get(`${leaving.namespace}/${leaving.name}`);
  if (leaving === undefined || pod?.metadata.uid !== leaving.uid) return undefined;
  return { leaving, pod, world, parts };
}

/** It has to stay for now. */
interface Refusal {
  readonly atLeastMs: number;
  /** Of the API server, which is not to be asked too often. */
  readonly isAnswer: boolean;
}

/** Undefined when there is nothing left to do for the pod. (03:T-42) */
async function attempt(departure: Departure): Promise<Refusal | undefined> {
  const { leaving, pod, world } = departure;
  const nowMs = world.clock.now();
  const { deadlineMs } = leaving;
  if (deadlineMs !== undefined && isForcedNow(pod, { nowMs, deadlineMs })) {
    await forceDelete(departure, deadlineMs);
    return undefined;
  }
  if (!isActive(pod) || !isDrainable(pod, nowMs)) return undefined; // it is going, or need not by now
  tellProtection(pod, world);
  if (!isEvictable(pod, nowMs)) return { atLeastMs: 0, isAnswer: false };
  const blocked = await evict(departure);
  return blocked && { ...blocked, isAnswer: true };
}

/** Grows with each refusal, but not past the moment that changes the answer: an end of protection, a deadline. */
function patience(
  { leaving, pod, world }: Departure,
  { refusals, atLeastMs }: { readonly refusals: number; readonly atLeastMs: number },
): LookAgain {
  const nowMs = world.clock.now();
  const protection = podProtection(pod, nowMs);
  const freeAt = protection.kind === "until" ? (protection.untilMs ?? Infinity) : Infinity;
  const forcedAt = forcedAfter(pod, leaving.deadlineMs) + 1;
  const waitMs = Math.max(atLeastMs, backOffMs(refusals, { ...backOff, random: world.random }));
  return { afterMs: Math.min(waitMs, freeAt - nowMs, forcedAt - nowMs) };
}
