import type { Pod } from "../api/kubernetes/pod.ts";
import { namespacedName } from "../api/object.ts";

/** What happened to a pod before it was bound, and when, in milliseconds since the epoch. */
export interface PodTimestamps {
  /** First seen as provisionable. */
  readonly ack?: number | undefined;
  /** First round that tried it. */
  readonly decision?: number | undefined;
  /** First round that placed it; removed when a later one does not. */
  readonly schedulable?: number | undefined;
  /** The same, in a pool whose nodes register. */
  readonly healthySchedulable?: number | undefined;
}

/** When each pod was seen, decided on and placed, for metrics. (02:S-45) */
export class PodTimes {
  readonly #times = new Map<string, PodTimestamps>();
  readonly #exists: (pod: string) => boolean;

  /** A round may decide on a pod that was deleted meanwhile: only those that exist are recorded, as nothing removes others. */
  constructor(exists: (pod: string) => boolean = () => true) {
    this.#exists = exists;
  }

  get(pod: string): PodTimestamps {
    return this.#times.get(pod) ?? {};
  }

  ack(pod: Pod, now: number): void {
    this.#once(pod, "ack", now);
  }

  /** Returns whether it was the first attempt. */
  markDecided(pod: Pod, now: number): boolean {
    return this.#once(pod, "decision", now);
  }

  /** Pods already bound get no schedulable times. */
  markPlaced(pod: Pod, { now, isPoolHealthy }: { now: number; isPoolHealthy: boolean }): void {
    if ((pod.spec.nodeName ?? "") !== "") return;
    this.#once(pod, "schedulable", now);
    if (isPoolHealthy) this.#once(pod, "healthySchedulable", now);
    else this.#change(pod, { healthySchedulable: undefined });
  }

  markRefused(pod: Pod): void {
    this.#change(pod, { schedulable: undefined, healthySchedulable: undefined });
  }

  forget(pod: string): void {
    this.#times.delete(pod);
  }

  #once(pod: Pod, what: keyof PodTimestamps, now: number): boolean {
    if (this.get(namespacedName(pod.metadata))[what] !== undefined) return false;
    this.#change(pod, { [what]: now });
    return true;
  }

  #change(pod: Pod, change: PodTimestamps): void {
    const key = namespacedName(pod.metadata);
    if (this.#exists(key)) this.#times.set(key, { ...this.get(key), ...change });
  }
}
