import type { Node } from "../../api/kubernetes/cluster.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { taints } from "../../api/labels.ts";
import type { KubeObject } from "../../api/object.ts";
import { isProvisionable } from "../../core/provisionable.ts";
import type { ResourceType } from "../../kube/client.ts";
import { aborted, type Loop, type LoopWorld } from "../../kube/loop.ts";
import { cacheKey } from "../../kube/object-cache.ts";
import { builtIn } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { Timer } from "../../util/clock.ts";
import type { ProvisioningParts } from "./parts.ts";

const recheckMs = 10_000;
/** Then others may work: some milliseconds. */
const mostAtOnce = 1_000;

/** Pods that wait ask for a round, and again every ten seconds until they do not. (02:P-10) */
export function podTrigger({ trigger, cluster }: ProvisioningParts): Loop {
  return asking<KubeObject & Pod>({
    name: "provisioner.trigger.pod",
    type: builtIn.Pod,
    asks: isProvisionable,
    ask: (pod, now) => {
      trigger.fire(pod.metadata.uid ?? "");
      cluster.times.ack(pod, now);
    },
  });
}

/** So do nodes that leave: their pods need another place. (02:P-11, 03:I-8) */
export function nodeTrigger({ trigger }: ProvisioningParts): Loop {
  return asking<KubeObject & Node>({
    name: "provisioner.trigger.node",
    type: builtIn.Node,
    asks: isDisrupted,
    ask: ({ metadata }) => trigger.fire(metadata.uid ?? ""),
  });
}

/** The taint's value does not matter. */
function isDisrupted({ spec }: Node): boolean {
  const { key, effect } = taints.disrupted;
  return spec?.taints?.some((taint) => taint.key === key && taint.effect === effect) ?? false;
}

interface Asking<T extends KubeObject> {
  readonly name: string;
  readonly type: ResourceType;
  readonly asks: (object: T) => boolean;
  readonly ask: (object: T, now: number) => void;
}

/** Objects of a kind that ask for something as long as something is true of them. */
function asking<T extends KubeObject>({ name, type, asks, ask }: Asking<T>): Loop {
  return {
    name,
    kinds: [type],
    run: async (world, signal) => {
      const askers = new Askers<T>(world, { view: world.view<T>(type), asks, ask });
      const unsubscribe = world.view<T>(type).subscribe(({ object, old }) => {
        const subject = object ?? old;
        if (subject !== undefined) askers.look(cacheKey(subject.metadata), object);
      });
      await aborted(signal);
      unsubscribe();
      askers.stop();
    },
  };
}

interface AskersOptions<T extends KubeObject> extends Pick<Asking<T>, "asks" | "ask"> {
  readonly view: View<T>;
}

/**
 * One timer for all that ask: they are looked at again in the order in which they were looked at last. A timer and a
 * queue entry for each of twenty thousand pods would keep the process from everything else every ten seconds.
 */
class Askers<T extends KubeObject> {
  readonly #world: LoopWorld;
  readonly #options: AskersOptions<T>;
  /** By key, when to look again: soonest first, as the wait is the same for all. */
  readonly #dueAt = new Map<string, number>();
  #timer: Timer | undefined;

  constructor(world: LoopWorld, options: AskersOptions<T>) {
    this.#world = world;
    this.#options = options;
  }

  look(key: string, object: T | undefined): void {
    this.#dueAt.delete(key);
    if (object === undefined || !this.#options.asks(object)) return;
    const { clock, observe } = this.#world;
    observe?.started?.();
    this.#options.ask(object, clock.now());
    observe?.finished?.("requeue-after", 0);
    this.#dueAt.set(key, clock.now() + recheckMs);
    if (this.#timer === undefined) this.#wake(recheckMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #lookAgain(): void {
    const now = this.#world.clock.now();
    let looked = 0;
    let next: number | undefined;
    for (const [key, dueAt] of this.#dueAt) {
      next = dueAt;
      if (dueAt > now || looked++ === mostAtOnce) break;
      this.look(key, this.#options.view.get(key)); // goes to the end of the line
      next = undefined;
    }
    this.#timer = undefined;
    if (next !== undefined) this.#wake(Math.max(0, next - now));
  }

  #wake(ms: number): void {
    this.#timer = this.#world.clock.setTimer(ms, () => this.#lookAgain());
  }
}
