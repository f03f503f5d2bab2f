import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { isProvisionable } from "../../core/pod-predicates.ts";
import { cacheKey, type ResourceType } from "../../kube/client.ts";
import type { Controller, ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import { whenAborted } from "../../util/abort.ts";
import type { Timer } from "../../util/clock.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";

export const triggerRecheckMs = 10_000;
/** Then it yields: this is a few milliseconds of work. */
const maxAtOnce = 1_000;

/** Pending pods trigger a round, and again every ten seconds while they are pending. (02:P-10) */
export function podTriggerController({ trigger, cluster }: ControllerDependencies): Controller {
  return triggerController<KubeObject & Pod>({
    name: "provisioner.trigger.pod",
    type: builtInTypes.Pod,
    shouldTrigger: isProvisionable,
    trigger: (pod, now) => {
      trigger.fire(pod.metadata.uid ?? "");
      cluster.podTimes.ack(pod, now);
    },
  });
}

/** Nodes with the disrupted taint trigger one too: their pods must be rescheduled. (02:P-11, 03:I-8) */
export function nodeTriggerController({ trigger }: ControllerDependencies): Controller {
  return triggerController<KubeObject & Node>({
    name: "provisioner.trigger.node",
    type: builtInTypes.Node,
    shouldTrigger: isDisrupted,
    trigger: ({ metadata }) => trigger.fire(metadata.uid ?? ""),
  });
}

/** The taint's value does not matter. */
function isDisrupted({ spec }: Node): boolean {
  const { key, effect } = taints.disrupted;
  return spec?.taints?.some((taint) => taint.key === key && taint.effect === effect) ?? false;
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

/**
 * One timer for all triggering objects, in the order they were last triggered. A timer and a queue entry for each of
 * twenty thousand pods would block the process every ten seconds.
 */
class TriggeringObjects<T extends KubeObject> {
  readonly #context: ControllerContext;
  readonly #options: TriggeringObjectsOptions<T>;
  /** When to trigger again, by key; soonest first, as the interval is the same for all. */
  readonly #dueAt = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(context: ControllerContext, options: TriggeringObjectsOptions<T>) {
    this.#context = context;
    this.#options = options;
  }

  observe(key: string, object: T | undefined): void {
    this.#dueAt.delete(key);
    if (object === undefined || !this.#options.shouldTrigger(object)) return;
    const { clock, observe } = this.#context;
    observe?.runStarted?.();
    this.#options.trigger(object, clock.now());
    observe?.runFinished?.("requeue-after", 0);
    this.#dueAt.set(key, clock.now() + triggerRecheckMs);
    if (this.#timer === undefined) this.#setTimer(triggerRecheckMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #triggerDue(): void {
    const now = this.#context.clock.now();
    let triggered = 0;
    let next: number | undefined;
    for (const [key, dueAt] of this.#dueAt) {
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
