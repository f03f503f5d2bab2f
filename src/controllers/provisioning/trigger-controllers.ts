import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { isProvisionable } from "../../core/pod-predicates.ts";
import { podRequests } from "../../core/pod-requests.ts";
import { resourcesFit } from "../../core/resources.ts";
import { cacheKey, type ResourceType } from "../../kube/client.ts";
import type { Controller, ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { Cluster } from "../../state/cluster.ts";
import { whenAborted } from "../../util/abort.ts";
import type { Timer } from "../../util/clock.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { hasDisruptedTaint } from "../disruption/disrupted-taint.ts";
import { takeExpectedPlace } from "./expect-pods.ts";

export const triggerRecheckMs = 10_000;
const firstGapMs = 1_000;
/** Then it yields: this is a few milliseconds of work. */
const maxAtOnce = 1_000;

/**
 * Pending pods trigger a round, and again every ten seconds while they are pending. (02:P-10) Changes of a pod that waits
 * trigger too, but each time it must have waited twice as long: nobody knows why it did not take the node it was given,
 * and a node a second would be launched for it. While its node is on its way, that is counted apart. (02:P-10a)
 */
export function podTriggerController({ trigger, cluster }: ControllerDependencies): Controller {
  return triggerController<KubeObject & Pod>({
    name: "provisioner.trigger.pod",
    type: builtInTypes.Pod,
    shouldTrigger: isProvisionable,
    trigger: (pod, now) => {
      trigger.fire(pod.metadata.uid ?? "", { canWait: placeOf(pod, cluster) !== "none" });
      cluster.podTimes.ack(pod, now);
      takeExpectedPlace(pod, cluster);
    },
    isNodeComing: (pod) => placeOf(pod, cluster) === "coming",
  });
}

/**
 * Whether the node a pod is planned on is on its way, or there with room for it. Then a round would plan the same again, and
 * pods that are new, or lost their place to another pod, must not wait for as long as such pods change. (02:P-10a)
 */
function placeOf(pod: Pod, cluster: Cluster): "coming" | "free" | "none" {
  const claim = cluster.plannedPods.claimOf(namespacedName(pod.metadata));
  const node = claim === undefined ? undefined : cluster.nodeByClaimName(claim);
  if (node === undefined || node.isBeingDeleted) return "none";
  if (!node.isInitialized) return "coming";
  return resourcesFit(podRequests(pod), node.existing.available) ? "free" : "none";
}

/** Nodes with the disrupted taint trigger one too: their pods must be rescheduled. (02:P-11, 03:I-8) */
export function nodeTriggerController({ trigger }: ControllerDependencies): Controller {
  return triggerController<KubeObject & Node>({
    name: "provisioner.trigger.node",
    type: builtInTypes.Node,
    shouldTrigger: hasDisruptedTaint,
    trigger: ({ metadata }) => trigger.fire(metadata.uid ?? ""),
  });
}

interface TriggerControllerOptions<T extends KubeObject> {
  readonly name: string;
  readonly type: ResourceType;
  readonly shouldTrigger: (object: T) => boolean;
  readonly trigger: (object: T, now: number) => void;
  /** How often an object triggers while this is so says nothing about how long it must have waited once it is not. */
  readonly isNodeComing?: ((object: T) => boolean) | undefined;
}

/** Triggers for each object as long as a predicate holds. */
function triggerController<T extends KubeObject>(options: TriggerControllerOptions<T>): Controller {
  const { name, type, ...rest } = options;
  return {
    name,
    kinds: [type],
    run: async (context, signal) => {
      const triggering = new TriggeringObjects<T>(context, { ...rest, view: context.view<T>(type) });
      const unsubscribe = context.view<T>(type).subscribe(({ object, old }) => {
        const subject = object ?? old;
        if (subject !== undefined) triggering.observe(cacheKey(subject.metadata), object);
      });
      await whenAborted(signal);
      unsubscribe();
      triggering.stop();
    },
  };
}

interface TriggeringObjectsOptions<T extends KubeObject>
  extends Pick<TriggerControllerOptions<T>, "shouldTrigger" | "trigger" | "isNodeComing"> {
  readonly view: View<T>;
}

/** When an object triggered last, when it does so again by itself, and how often it has: while its node was coming, and else. */
interface Triggered {
  readonly at: number;
  readonly dueAt: number;
  readonly timesComing: number;
  readonly times: number;
}

/**
 * One timer for all triggering objects, in the order they were last triggered. A timer and a queue entry for each of
 * twenty thousand pods would block the process every ten seconds.
 */
class TriggeringObjects<T extends KubeObject> {
  readonly #context: ControllerContext;
  readonly #options: TriggeringObjectsOptions<T>;
  /** By key; the one due soonest first, as the interval is the same for all. */
  readonly #triggered = new Map<string, Triggered>();
  #timer: Timer | undefined;

  constructor(context: ControllerContext, options: TriggeringObjectsOptions<T>) {
    this.#context = context;
    this.#options = options;
  }

  observe(key: string, object: T | undefined): void {
    const last = this.#triggered.get(key);
    if (object === undefined || !this.#options.shouldTrigger(object)) this.#triggered.delete(key);
    else if (last === undefined || this.#context.clock.now() >= last.at + this.#gapMs(last, object))
      this.#trigger(key, object);
  }

  /** How long an object must have waited before a change of it triggers. */
  #gapMs({ times, timesComing }: Triggered, object: T): number {
    const before = this.#options.isNodeComing?.(object) ? timesComing : times;
    return Math.min(triggerRecheckMs, firstGapMs * 2 ** Math.max(0, before - 1));
  }

  #trigger(key: string, object: T): void {
    const { clock, observe } = this.#context;
    observe?.runStarted?.();
    const isComing = this.#options.isNodeComing?.(object) ?? false;
    this.#options.trigger(object, clock.now());
    observe?.runFinished?.("requeue-after", 0);
    const { times = 0, timesComing = 0 } = this.#triggered.get(key) ?? {};
    this.#triggered.delete(key); // so that it comes last
    this.#triggered.set(key, {
      at: clock.now(),
      dueAt: clock.now() + triggerRecheckMs,
      times: isComing ? times : times + 1,
      timesComing: isComing ? timesComing + 1 : timesComing,
    });
    if (this.#timer === undefined) this.#setTimer(triggerRecheckMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #triggerDue(): void {
    const now = this.#context.clock.now();
    let triggered = 0;
    let next: number | undefined;
    for (const [key, { dueAt }] of this.#triggered) {
      next = dueAt;
      if (dueAt > now || triggered++ === maxAtOnce) break;
      this.observe(key, this.#options.view.get(key)); // moves to the end
      next = undefined;
    }
    this.#timer = undefined;
    if (next !== undefined) this.#setTimer(Math.max(0, next - now));
  }

  #setTimer(ms: number): void {
    this.#timer = this.#context.clock.setTimer(ms, () => this.#triggerDue());
  }
}
