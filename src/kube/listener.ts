import type { KubeObject } from "../api/object.ts";
import type { Pause } from "../util/pause.ts";
import { cacheKey } from "./object-cache.ts";
import type { Change } from "./view.ts";

/** One that listens to a view: first it is told of what is there, then of changes. */
export class Listener<T extends KubeObject> {
  readonly #handler: (change: Change<T>) => void;
  /** Changed before their turn, and told as they changed. */
  readonly #early = new Set<string>();
  /** Everything up to this key has been told; undefined when all has. */
  #toldTo: string | undefined = "";
  #hasEnded = false;

  constructor(handler: (change: Change<T>) => void) {
    this.#handler = handler;
  }

  hear(change: Change<T>): void {
    const { object } = change;
    const key = this.#toldTo === undefined ? undefined : keyOf(change);
    if (key === undefined || this.#isTold(key)) this.#handler(change);
    else {
      this.#early.add(key);
      if (object !== undefined) this.#handler({ object, old: undefined });
    }
  }

  /** In the order of their keys; without a pause it is done when this returns. */
  async tellAll(objects: readonly T[], { pause, onTold }: { pause: Pause; onTold: () => void }): Promise<void> {
    for (const object of objects) {
      if (this.#hasEnded) return;
      const key = cacheKey(object.metadata);
      if (!this.#early.delete(key)) this.#handler({ object, old: undefined });
      this.#toldTo = key;
      const rest = pause();
      if (rest !== undefined) await rest;
    }
    this.#toldTo = undefined;
    this.#early.clear();
    onTold();
  }

  end(): void {
    this.#hasEnded = true;
  }

  #isTold(key: string): boolean {
    return key <= (this.#toldTo ?? key) || this.#early.has(key);
  }
}

function keyOf<T extends KubeObject>({ object, old }: Change<T>): string {
  return cacheKey((object ?? old)?.metadata ?? {});
}
