import type { Clock, Timer } from "../util/clock.ts";
import type { Random } from "../util/random.ts";
import { type BackOffOptions, backOffMs } from "./back-off.ts";

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backOff?: BackOffOptions;
  readonly observe?: WorkQueueObserver;
}

/** What metrics want to know of a queue. */
export interface WorkQueueObserver {
  readonly added?: (depth: number) => void;
  /** A key was taken, after waiting its turn for so long. */
  readonly taken?: (waitedMs: number, depth: number) => void;
  readonly retried?: () => void;
}

const defaultBackOff: BackOffOptions = { baseMs: 10, maxMs: 5 * 60_000 };

/**
 * Keys to look at. A key waits once however often it is added, is never handed out twice at a time, and comes again
 * when it was added while somebody looked at it.
 */
export class WorkQueue<Key extends string> {
  readonly #options: WorkQueueOptions;
  /** In order of arrival, with the time of it. */
  readonly #waiting = new Map<Key, number>();
  readonly #delayed = new Map<Key, { readonly dueAt: number; readonly timer: Timer }>();
  readonly #active = new Set<Key>();
  readonly #addedAgain = new Set<Key>();
  readonly #failures = new Map<Key, number>();
  #takers: ((key: Key | undefined) => void)[] = [];
  #isStopped = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** How many wait for their turn. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Nothing waits, is delayed, or is being looked at. */
  get isIdle(): boolean {
    return this.#waiting.size + this.#delayed.size + this.#active.size === 0;
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

  /** Adds later, never at once: who asks for no delay still lets others go first. Of several times the earliest counts. */
  addAfter(key: Key, ms: number): void {
    if (this.#isStopped) return;
    const { clock } = this.#options;
    const dueAt = clock.now() + ms;
    const earlier = this.#delayed.get(key);
    if (earlier !== undefined && earlier.dueAt <= dueAt) return;
    earlier?.timer.cancel();
    const arrive = (): void => {
      this.#delayed.delete(key);
      this.add(key);
    };
    this.#delayed.set(key, { dueAt, timer: clock.setTimer(ms, arrive) });
  }

  /** Adds after a wait that grows each time, until the key is forgotten; never sooner than asked. */
  retry(key: Key, { atLeastMs = 0 }: { readonly atLeastMs?: number | undefined } = {}): void {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#options.observe?.retried?.();
    const { backOff = defaultBackOff, random } = this.#options;
    this.addAfter(key, Math.max(atLeastMs, backOffMs(failures, { ...backOff, random })));
  }

  /** It went well: the next failure is a first one. */
  forget(key: Key): void {
    this.#failures.delete(key);
  }

  failuresOf(key: Key): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The next key, once there is one; undefined when the queue stopped. Give it back with `done`. */
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

  /** Hands out nothing any more and drops what waits. */
  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    this.#waiting.clear();
    this.#addedAgain.clear();
    for (const resolve of this.#takers.splice(0)) resolve(undefined);
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
