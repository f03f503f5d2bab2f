import type { KubeObject } from "../api/object.ts";
import type { Pause } from "../util/pause.ts";
import { cacheKey } from "./object-cache.ts";
import type { ObjectChange } from "./view.ts";

/** One that listens to a view: first it is told of what is there, then of changes. */
export class ViewSubscription<T extends KubeObject> {
  readonly #handler: (change: ObjectChange<T>) => void;
  /** Changed before their turn, and told as they changed. */
  readonly #deliveredEarly = new Set<string>();
  /** Everything up to this key has been told; undefined when all has. */
  #deliveredUpTo: string | undefined = "";
  #isStopped = false;

  constructor(handler: (change: ObjectChange<T>) => void) {
    this.#handler = handler;
  }

  deliver(change: ObjectChange<T>): void {
    const { object } = change;
    const key = this.#deliveredUpTo === undefined ? undefined : keyOf(change);
    if (key === undefined || this.#isDelivered(key)) this.#handler(change);
    else {
      this.#deliveredEarly.add(key);
      if (object !== undefined) this.#handler({ object, old: undefined });
    }
  }

  /** In the order of their keys; without a pause it is done when this returns. */
  async deliverInitial(
    objects: readonly T[],
    { pause, onInitialDelivered }: { pause: Pause; onInitialDelivered: () => void },
  ): Promise<void> {
    for (const object of objects) {
      if (this.#isStopped) return;
      const key = cacheKey(object.metadata);
      if (!this.#deliveredEarly.delete(key)) this.#handler({ object, old: undefined });
      this.#deliveredUpTo = key;
      const pausing = pause();
      if (pausing !== undefined) await pausing;
    }
    this.#deliveredUpTo = undefined;
    this.#deliveredEarly.clear();
    onInitialDelivered();
  }

  stop(): void {
    this.#isStopped = true;
  }

  #isDelivered(key: string): boolean {
    return key <= (this.#deliveredUpTo ?? key) || this.#deliveredEarly.has(key);
  }
}

function keyOf<T extends KubeObject>({ object, old }: ObjectChange<T>): string {
  return cacheKey((object ?? old)?.metadata ?? {});
}
