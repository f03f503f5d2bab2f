import type { Pod, PodCondition } from "../../api/kubernetes/pod.ts";
import { namespacedName, type ObjectMeta } from "../../api/object.ts";
import { isTerminalPod } from "../../core/pod-predicates.ts";
import type { PodTimes, PodTimestamps } from "../../state/pod-times.ts";
import { secondsSince } from "./listening-controller.ts";
import type { Metrics } from "./metrics.ts";

/** A waiting pod, and the times of what has happened to it so far. */
export interface WaitingPod {
  readonly pod: ObjectMeta;
  readonly time: PodTimestamps;
}

/**
 * Pods that wait for a node or to start, and the durations of those that no longer do. Pods already bound or ready when
 * first seen are not counted: a process before us may have counted them.
 */
export class WaitingPods {
  readonly #metrics: Metrics;
  readonly #times: PodTimes;
  readonly #unbound = new Map<string, ObjectMeta>();
  readonly #unstarted = new Map<string, ObjectMeta>();

  constructor({ metrics, times }: { readonly metrics: Metrics; readonly times: PodTimes }) {
    this.#metrics = metrics;
    this.#times = times;
  }

  readonly unbound = (): Iterable<WaitingPod> => this.#waitingPods(this.#unbound);
  readonly unstarted = (): Iterable<WaitingPod> => this.#waitingPods(this.#unstarted);

  observe(pod: Pod): void {
    const key = namespacedName(pod.metadata);
    const time = this.#times.get(key); // read first: once the pod has started its times are forgotten
    this.#observeBinding(key, { pod, time });
    this.#observeStart(key, { pod, time });
  }

  remove({ metadata }: Pod): void {
    this.#unbound.delete(namespacedName(metadata));
    this.#unstarted.delete(namespacedName(metadata));
  }

  #observeBinding(key: string, { pod, time }: ObservedPod): void {
    const scheduled = conditionOf(pod, "PodScheduled");
    if (scheduled?.status === "True") {
      if (!this.#unbound.delete(key)) return;
      const at = Date.parse(scheduled.lastTransitionTime ?? "");
      this.#metrics.observe("pods_bound_duration_seconds", {}, secondsSince(pod.metadata.creationTimestamp, at));
      if (time.schedulable === undefined) return;
      this.#metrics.observe("pods_provisioning_bound_duration_seconds", {}, secondsSince(time.schedulable, at));
    } else if (isPending(pod)) this.#unbound.set(key, pod.metadata);
    else if (isTerminalPod(pod)) this.#unbound.delete(key);
  }

  #observeStart(key: string, { pod, time }: ObservedPod): void {
    if (isPending(pod)) this.#unstarted.set(key, pod.metadata);
    if (!this.#unstarted.has(key) || isPending(pod)) return;
    const ready = conditionOf(pod, "Ready");
    const isStarted = ready?.status === "True";
    if (!isStarted && !isTerminalPod(pod)) return;
    this.#unstarted.delete(key);
    this.#times.forget(key);
    if (!isStarted) return; // ended without having been ready: there is no startup time
    const at = Date.parse(ready.lastTransitionTime ?? "");
    this.#metrics.observe("pods_startup_duration_seconds", {}, secondsSince(pod.metadata.creationTimestamp, at));
    if (time.schedulable === undefined) return;
    this.#metrics.observe("pods_provisioning_startup_duration_seconds", {}, secondsSince(time.schedulable, at));
  }

  *#waitingPods(pods: ReadonlyMap<string, ObjectMeta>): Generator<WaitingPod> {
    for (const [key, pod] of [...pods]) yield { pod, time: this.#times.get(key) };
  }
}

interface ObservedPod {
  readonly pod: Pod;
  readonly time: PodTimestamps;
}

export function hasReadyCondition(pod: Pod): boolean {
  return conditionOf(pod, "Ready")?.status === "True";
}

function isPending({ status }: Pod): boolean {
  return status?.phase === "Pending";
}

function conditionOf({ status }: Pod, type: string): PodCondition | undefined {
  return status?.conditions?.find((one) => one.type === type);
}
