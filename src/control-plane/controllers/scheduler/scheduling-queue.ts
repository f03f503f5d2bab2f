import type { Clock, Timer } from "../../../util/clock.ts";
import { Heap } from "../../../util/heap.ts";
import type { FilterName } from "./filter-refusal.ts";
import type { PodProfile } from "./pod-profile.ts";

/** Cluster changes that may make an unschedulable pod schedulable. */
const clusterEvents = ["node", "pod-placed", "pod-removed", "volume", "namespace"] as const;
export type ClusterEvent = (typeof clusterEvents)[number];

/** Filters whose refusal the event may lift; a node change may lift any. */
const filtersHelpedBy: Readonly<Record<Exclude<ClusterEvent, "node">, ReadonlySet<FilterName>>> = {
  "pod-placed": new Set(["spread", "pod-affinity"]),
  "pod-removed": new Set(["resources", "ports", "volume-limits", "spread", "pod-affinity"]),
  volume: new Set(["volumes", "volume-limits"]),
  namespace: new Set(["pod-affinity"]),
};

interface QueuedPod {
  pod: PodProfile;
  readonly sequence: number;
  attempts: number;
  state: "active" | "backing-off" | "unschedulable" | "in-flight";
  /** Time of the last attempt. */
  triedAt: number;
  filters: ReadonlySet<FilterName>;
}

const backOff = { baseMs: 1_000, maxMs: 10_000 };
/** Even without an event a pod is retried after this long. */
const maxUnschedulableMs = 5 * 60_000;

/**
 * Pending pods: highest priority first, then oldest. An unschedulable pod waits for an event that may help, and at least
 * for its back-off. (05:CP-L9)
 */
export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #entries = new Map<string, QueuedPod>();
  /** Unschedulable pods, kept apart because events are frequent and these may be few. */
  readonly #unschedulable = new Set<QueuedPod>();
  readonly #active = new Heap<QueuedPod>(byUrgency);
  readonly #waiting = new Heap<{ readonly dueAt: number; readonly entry: QueuedPod; readonly attempts: number }>(
    (a, b) => a.dueAt - b.dueAt || a.entry.sequence - b.entry.sequence,
  );
  #sequence = 0;
  #timer: { readonly dueAt: number; readonly timer: Timer } | undefined;
  #resolveNext: ((pod: PodProfile | undefined) => void) | undefined;
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: string): boolean {
    return this.#entries.get(key) !== undefined;
  }

  /** A new pod, or one whose spec changed. */
  add(pod: PodProfile): void {
    const known = this.#entries.get(pod.key);
    if (known !== undefined && known.pod.uid === pod.uid) {
      known.pod = pod;
      if (known.state === "unschedulable") this.#requeue(known);
      this.#deliver();
      return;
    }
    this.remove(pod.key);
    const entry: QueuedPod = {
      pod,
      sequence: this.#sequence++,
      attempts: 0,
      state: "active",
      triedAt: 0,
      filters: new Set(),
    };
    this.#entries.set(pod.key, entry);
    this.#activate(entry);
    this.#deliver();
  }

  /** A newer version of the pod with the same spec. */
  update(pod: PodProfile): void {
    const known = this.#entries.get(pod.key);
    if (known !== undefined) known.pod = pod;
  }

  get(key: string): PodProfile | undefined {
    return this.#entries.get(key)?.pod;
  }

  remove(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key); // stale heap entries are skipped
    this.#unschedulable.delete(entry);
  }

  /** Resolves to the next pod; undefined once the queue is stopped. */
  next(): Promise<PodProfile | undefined> {
    return new Promise((resolve) => {
      this.#resolveNext = resolve;
      this.#deliver();
    });
  }

  /** No node fits: waits for an event that concerns the filters that refused. */
  addUnschedulable(key: string, filters: ReadonlySet<FilterName>): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.state = "unschedulable";
    this.#unschedulable.add(entry);
    entry.filters = filters;
    this.#activateAt(entry, this.#clock.now() + maxUnschedulableMs);
  }

  /** An error that is not about the cluster's state: retried after a back-off. */
  retryAfterBackOff(pod: PodProfile): void {
    if (!this.#entries.has(pod.key)) this.add(pod);
    const entry = this.#entries.get(pod.key);
    if (entry === undefined) return;
    entry.attempts = Math.max(1, entry.attempts);
    entry.triedAt = this.#clock.now();
    this.#requeue(entry);
    this.#deliver();
  }

  onClusterEvent(event: ClusterEvent): void {
    for (const entry of [...this.#unschedulable]) if (mayHelp(event, entry.filters)) this.#requeue(entry);
    this.#deliver(); // after all are requeued, so that priorities decide
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.timer.cancel();
    this.#deliver();
  }

  #requeue(entry: QueuedPod): void {
    const dueAt = entry.triedAt + Math.min(backOff.maxMs, backOff.baseMs * 2 ** Math.max(0, entry.attempts - 1));
    if (dueAt <= this.#clock.now()) {
      this.#activate(entry);
      return;
    }
    entry.state = "backing-off";
    this.#unschedulable.delete(entry);
    this.#activateAt(entry, dueAt);
  }

  #activate(entry: QueuedPod): void {
    entry.state = "active";
    this.#unschedulable.delete(entry);
    this.#active.push(entry);
  }

  #activateAt(entry: QueuedPod, dueAt: number): void {
    this.#waiting.push({ dueAt, entry, attempts: entry.attempts });
    this.#armTimer();
  }

  /** One timer, for the earliest. */
  #armTimer(): void {
    const first = this.#waiting.peek();
    if (first === undefined || this.#isStopped) return;
    if (this.#timer !== undefined && this.#timer.dueAt <= first.dueAt) return;
    this.#timer?.timer.cancel();
    const timer = this.#clock.setTimer(first.dueAt - this.#clock.now(), () => this.#onTimer());
    this.#timer = { dueAt: first.dueAt, timer };
  }

  #onTimer(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    for (let first = this.#waiting.peek(); first !== undefined && first.dueAt <= now; first = this.#waiting.peek()) {
      this.#waiting.pop();
      const { entry, attempts } = first;
      const isCurrent = this.#entries.get(entry.pod.key) === entry && entry.attempts === attempts;
      if (isCurrent && (entry.state === "backing-off" || entry.state === "unschedulable")) this.#activate(entry);
    }
    this.#armTimer();
    this.#deliver();
  }

  #deliver(): void {
    const resolveNext = this.#resolveNext;
    if (resolveNext === undefined) return;
    const pod = this.#isStopped ? undefined : this.#pop();
    if (pod === undefined && !this.#isStopped) return;
    this.#resolveNext = undefined;
    resolveNext(pod);
  }

  #pop(): PodProfile | undefined {
    for (let entry = this.#active.pop(); entry !== undefined; entry = this.#active.pop()) {
      if (entry.state !== "active" || this.#entries.get(entry.pod.key) !== entry) continue;
      entry.state = "in-flight";
      entry.attempts += 1;
      entry.triedAt = this.#clock.now();
      return entry.pod;
    }
    return undefined;
  }
}

function mayHelp(event: ClusterEvent, filters: ReadonlySet<FilterName>): boolean {
  if (event === "node") return true;
  for (const filter of filters) if (filtersHelpedBy[event].has(filter)) return true;
  return false;
}

function byUrgency(a: QueuedPod, b: QueuedPod): number {
  return b.pod.priority - a.pod.priority || a.sequence - b.sequence;
}
