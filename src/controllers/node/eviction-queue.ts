import type { PodKubeObject } from "./pods-of-node.ts";

/** A pod to evict. */
export interface QueuedEviction {
  readonly namespace: string;
  readonly name: string;
  /** A pod that has taken the name since is another one. (03:T-41) */
  readonly uid: string;
  readonly node: string;
  readonly deadlineMs?: number | undefined;
  /** How often in a row its eviction was refused. */
  readonly refusals: number;
}

/** Pods to evict, each once. A restart may forget them: the next reconcile of their node adds them again. (03 §2.3) */
export class EvictionQueue {
  readonly #pods = new Map<string, QueuedEviction>();
  readonly #listeners = new Set<(key: string) => void>();

  /** A deadline can move forward, never back. A pod that is queued already keeps its back-off unless its deadline moves. (03:T-40) */
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

  /** Returns how often in a row the eviction was refused. */
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
