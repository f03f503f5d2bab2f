import type { PodKubeObject } from "./node-termination-context.ts";

/** A pod that has to leave. */
export interface QueuedEviction {
  readonly namespace: string;
  readonly name: string;
  /** A pod that took the name since is another one. (03:T-41) */
  readonly uid: string;
  readonly node: string;
  readonly deadlineMs?: number | undefined;
  /** How often in a row it was told to stay. */
  readonly refusals: number;
}

/** Pods that have to leave, each once. Nothing of it is kept: the next look at the node fills it again. (03 §2.3) */
export class EvictionQueue {
  readonly #pods = new Map<string, QueuedEviction>();
  readonly #listeners = new Set<(key: string) => void>();

  /** A deadline can come nearer, never go away. One that is here already, with nothing new, goes on waiting. (03:T-40) */
  add(
    pods: readonly PodKubeObject[],
    { node, deadlineMs = Infinity }: { readonly node: string; readonly deadlineMs?: number | undefined },
  ): void {
    for (const { metadata } of pods) {
      const { namespace = "default", name = "", uid = "" } = metadata;
      const key = `${namespace}/${name}/${uid}`;
      const known = this.#pods.get(key);
      if (known !== undefined && deadlineMs >= (known.deadlineMs ?? Infinity)) continue;
      const deadline = deadlineMs === Infinity ? {} : { deadlineMs };
      this.#pods.set(key, { namespace, name, uid, node, refusals: known?.refusals ?? 0, ...deadline });
      this.#notify(key);
    }
  }

  get(key: string): QueuedEviction | undefined {
    return this.#pods.get(key);
  }

  /** It has to stay for now; says how often that was so. */
  countRefusal(key: string): number {
    const known = this.#pods.get(key);
    const refusals = (known?.refusals ?? 0) + 1;
    if (known !== undefined) this.#pods.set(key, { ...known, refusals });
    return refusals;
  }

  remove(key: string): void {
    this.#pods.delete(key);
  }

  get size(): number {
    return this.#pods.size;
  }

  subscribe(listener: (key: string) => void): () => void {
    this.#listeners.add(listener);
    for (const key of this.#pods.keys()) listener(key);
    return () => this.#listeners.delete(listener);
  }

  #notify(key: string): void {
    for (const listener of [...this.#listeners]) listener(key);
  }
}
