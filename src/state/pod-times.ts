import type { Pod } from "../api/kubernetes/pod.ts";
import { namespacedName } from "../api/object.ts";

/** What happened to a pod on its way to a node, and when. Milliseconds since the epoch. */
export interface PodTimestamps {
  /** First seen as one we could help. */
  readonly ack?: number | undefined;
  /** First round that tried it. */
  readonly decision?: number | undefined;
  /** First round that found a place; gone again when a later one finds none. */
  readonly schedulable?: number | undefined;
  /** The same, while its pool's nodes register. */
  readonly healthySchedulable?: number | undefined;
  /** The claim made for it. */
  readonly claim?: string | undefined;
}

/** Times of pods, for metrics alone: no decision reads them. (02:S-45) */
export class PodTimes {
  readonly #times = new Map<string, PodTimestamps>();

  get(pod: string): PodTimestamps {
    return this.#times.get(pod) ?? {};
  }

  ack(pod: Pod, now: number): void {
    this.#once(pod, "ack", now);
  }

  /** Says whether it was the first attempt. */
  markDecided(pod: Pod, now: number): boolean {
    return this.#once(pod, "decision", now);
  }

  /** Already-bound pods never get schedulable times; where they will move is remembered of them too. */
  markPlaced(pod: Pod, { now, isPoolHealthy, claim }: { now: number; isPoolHealthy: boolean; claim?: string }): void {
    if (claim !== undefined) this.#change(pod, { claim });
    if ((pod.spec.nodeName ?? "") !== "") return;
    this.#once(pod, "schedulable", now);
    if (isPoolHealthy) this.#once(pod, "healthySchedulable", now);
    else this.#change(pod, { healthySchedulable: undefined });
  }

  markRefused(pod: Pod): void {
    this.#change(pod, { schedulable: undefined, healthySchedulable: undefined, claim: undefined });
  }

  forget(pod: string): void {
    this.#times.delete(pod);
  }

  #once(pod: Pod, what: keyof Omit<PodTimestamps, "claim">, now: number): boolean {
    if (this.get(namespacedName(pod.metadata))[what] !== undefined) return false;
    this.#change(pod, { [what]: now });
    return true;
  }

  #change(pod: Pod, change: PodTimestamps): void {
    const key = namespacedName(pod.metadata);
    this.#times.set(key, { ...this.get(key), ...change });
  }
}
