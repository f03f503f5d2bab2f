import { type BackOffOptions, backOffMs } from "../util/back-off.ts";
import type { Clock, Timer } from "../util/clock.ts";
import type { Random } from "../util/random.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backOff?: BackOffOptions;
  readonly observe?: WorkQueueObserver;
}

/** What metrics record of a queue. */
export interface WorkQueueObserver {
  readonly added?: (depth: number) => void;
  /** A key was taken from the queue, after waiting this long. */
  readonly taken?: (waitedMs: number, depth: number) => void;
  readonly retried?: () => void;
}

type DelayedKeys<Key> = Map<Key, { readonly dueAt: number; readonly timer: Timer }>;

const defaultBackOff: BackOffOptions = { baseMs: 10, maxMs: 5 * 60_000 };

/**
 * Keys to reconcile. A key is queued once however often it is added, is never handed out twice at a time, and is queued
 * again if it was added while being processed.
 */
export class WorkQueue<Key extends string> {
  readonly #options: WorkQueueOptions;
  /** In order of arrival, with the time each was queued. */
  readonly #waiting = new Map<Key, number>();
  readonly #delayed: DelayedKeys<Key> = new Map();
  /** Delays that were asked for by who processed the key: apart, so that dropping one leaves those of changes alone. */
  readonly #requeued: DelayedKeys<Key> = new Map();
  readonly #active = new Set<Key>();
  readonly #addedAgain = new Set<Key>();
  readonly #failures = new Map<Key, number>();
  #takers: ((key: Key | undefined) => void)[] = [];
  #isStopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** How many keys are queued. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** No key is queued, delayed or being processed. */
  get isIdle(): boolean {
    return this.#waiting.size + this.#delayed.size + this.#requeued.size + this.#active.size === 0;
  }

  add(key: Key): void {
    if (this.#isStopped) return;
    if (this.#active.has(key)) {
      this.#addedAgain.add(key);
      return;
    }
    if (this.#waiting.has(key)) return;
    this.#waiting.set(key, this.#options.clock.now());
    this.#options.observe?.added?.(this.#waiting.size);
    this.#serve();
  }

  /** Adds after a delay; a zero delay still goes through the timer. The earliest of several delays counts. */
  addAfter(key: Key, ms: number): void {
    this.#delay(this.#delayed, key, ms);
  }

  /** Adds after a delay, unless `dropRequeue` is called before: processing the key once more may show that it is done. */
  requeueAfter(key: Key, ms: number): void {
    this.#delay(this.#requeued, key, ms);
  }

  dropRequeue(key: Key): void {
    this.#requeued.get(key)?.timer.cancel();
    this.#requeued.delete(key);
  }

  /** Adds with exponential back-off until forget(), never sooner than atLeastMs. */
  retry(key: Key, { atLeastMs = 0 }: { readonly atLeastMs?: number | undefined } = {}): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#options.observe?.retried?.();
    const { backOff = defaultBackOff, random } = this.#options;
    this.requeueAfter(key, Math.max(atLeastMs, backOffMs(failures, { ...backOff, random })));
  }

  /** Resets the back-off. */
  forget(key: Key): void {
    this.#failures.delete(key);
  }

  failuresOf(key: Key): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Waits for the next key; undefined when the queue was stopped. Call done() with it afterwards. */
  take(): Promise<Key | undefined> {
    return new Promise((resolve) => {
      if (this.#isStopped) return resolve(undefined);
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  done(key: Key): void {
    this.#active.delete(key);
    if (this.#addedAgain.delete(key)) this.add(key);
  }

  /** Hands out no more keys and drops those queued. */
  stop(): void {
    this.#isStopped = true;
    for (const keys of [this.#delayed, this.#requeued]) {
      for (const { timer } of keys.values()) timer.cancel();
      keys.clear();
    }
    this.#waiting.clear();
    this.#addedAgain.clear();
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
  }

  #delay(keys: DelayedKeys<Key>, key: Key, ms: number): void {
    if (this.#isStopped) return;
    const { clock } = this.#options;
    const dueAt = clock.now() + ms;
    const earlier = keys.get(key);
    if (earlier !== undefined && earlier.dueAt <= dueAt) return;
    earlier?.timer.cancel();
    const arrive = (): void => {
      keys.delete(key);
      this.add(key);
    };
    keys.set(key, { dueAt, timer: clock.setTimer(ms, arrive) });
  }

  #serve(): void {
    for (const [key, since] of this.#waiting) {
      const taker = this.#takers.shift();
      if (taker === undefined) return;
      this.#waiting.delete(key);
      this.#active.add(key);
      this.#options.observe?.taken?.(this.#options.clock.now() - since, this.#waiting.size);
      taker(key);
    }
  }
}
