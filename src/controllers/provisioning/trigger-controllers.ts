import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { isProvisionable } from "../../core/pod-predicates.ts";
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
 * and a node a second would be launched for it. (02:P-10a)
 */
export function podTriggerController({ trigger, cluster }: ControllerDependencies): Controller {
  return triggerController<KubeObject & Pod>({
    name: "provisioner.trigger.pod",
    type: builtInTypes.Pod,
    shouldTrigger: isProvisionable,
    trigger: (pod, now) => {
      trigger.fire(pod.metadata.uid ?? "", { canWait: isNodeComing(pod, cluster) });
      cluster.podTimes.ack(pod, now);
      takeExpectedPlace(pod, cluster);
    },
  });
}

/**
 * Whether the node it is planned on is on its way. A round would plan the same again, and pods that are new must not wait for
 * as long as those that wait for their nodes change. (02:P-10a)
 */
function isNodeComing({ metadata }: Pod, cluster: Cluster): boolean {
  const claim = cluster.plannedPods.claimOf(namespacedName(metadata));
  const node = claim === undefined ? undefined : cluster.nodeByClaimName(claim);
  return node !== undefined && !node.isInitialized && !node.isBeingDeleted;
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
}

/** Triggers for each object as long as a predicate holds. */
function triggerController<T extends KubeObject>(options: TriggerControllerOptions<T>): Controller {
  const { name, type, shouldTrigger, trigger } = options;
  return {
    name,
    kinds: [type],
    run: async (context, signal) => {
      const triggering = new TriggeringObjects<T>(context, { view: context.view<T>(type), shouldTrigger, trigger });
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
  extends Pick<TriggerControllerOptions<T>, "shouldTrigger" | "trigger"> {
  readonly view: View<T>;
}

/** When an object triggered last, when it does so again by itself, and how often it has. */
interface Triggered {
  readonly at: number;
  readonly dueAt: number;
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
    else if (last === undefined || this.#context.clock.now() >= last.at + gapMs(last)) this.#trigger(key, object);
  }

  #trigger(key: string, object: T): void {
    const { clock, observe } = this.#context;
    observe?.runStarted?.();
    this.#options.trigger(object, clock.now());
    observe?.runFinished?.("requeue-after", 0);
    const times = (this.#triggered.get(key)?.times ?? 0) + 1;
    this.#triggered.delete(key); // so that it comes last
    this.#triggered.set(key, { at: clock.now(), dueAt: clock.now() + triggerRecheckMs, times });
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

/** How long an object must have waited before a change of it triggers. */
function gapMs({ times }: Triggered): number {
  return Math.min(triggerRecheckMs, firstGapMs * 2 ** (times - 1));
}
