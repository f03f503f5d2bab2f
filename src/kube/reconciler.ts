import type { Clock } from "../util/clock.ts";
import type { Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import type { BackOffOptions } from "./back-off.ts";
import { isKubeError } from "./error.ts";
import { WorkQueue, type WorkQueueObserver } from "./work-queue.ts";

/** When to look at a key again. */
export interface LookAgain {
  readonly afterMs: number;
}

/**
 * Gets a key, reads the world again, makes one thing truer, and says when to look next. Harmless to repeat, safe to
 * crash anywhere. (design §3)
 */
export type Reconcile<Key extends string, World = unknown> = (key: Key, world: World) => Promise<LookAgain | undefined>;

export interface ReconcilerOptions<Key extends string, World> {
  /** For logs and metrics. */
  readonly name: string;
  readonly reconcile: Reconcile<Key, World>;
  readonly world: World;
  readonly clock: Clock;
  readonly random: Random;
  /** How many keys are looked at at a time. */
  readonly concurrency?: number;
  readonly backOff?: BackOffOptions;
  /** Asked between two keys: looks that wait for nothing would follow each other without end. */
  readonly pause?: Pause | undefined;
  /** A key failed; it will be tried again. */
  readonly onError?: (failure: ReconcileFailure<Key>) => void;
  readonly observe?: ReconcilerObserver;
}

export interface ReconcileFailure<Key extends string> {
  readonly reconciler: string;
  readonly key: Key;
  readonly error: unknown;
  /** In a row, this one included. */
  readonly failures: number;
}

/** What metrics want to know: the queue's figures and those of the runs. (03 §6.1) */
export interface ReconcilerObserver extends WorkQueueObserver {
  /** It begins, and looks at so many keys at a time. */
  readonly begun?: (concurrency: number) => void;
  readonly started?: () => void;
  readonly finished?: (outcome: ReconcileOutcome, durationMs: number) => void;
}

export type ReconcileOutcome = "success" | "requeue-after" | "error";

/** Runs one reconcile over a queue of keys. What it throws is that key's trouble alone. */
export class Reconciler<Key extends string, World = unknown> {
  readonly name: string;
  readonly #options: ReconcilerOptions<Key, World>;
  readonly #queue: WorkQueue<Key>;

  constructor(options: ReconcilerOptions<Key, World>) {
    const { clock, random, backOff, observe } = options;
    this.name = options.name;
    this.#options = options;
    this.#queue = new WorkQueue({
      clock,
      random,
      ...(backOff === undefined ? {} : { backOff }),
      ...(observe === undefined ? {} : { observe }),
    });
  }

  /** Nothing to look at, now or later. */
  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  enqueue(key: Key): void {
    this.#queue.add(key);
  }

  enqueueAfter(key: Key, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /** Until the signal aborts; resolves when the runs that were under way have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#queue.stop();
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const { concurrency = 1, observe } = this.#options;
    observe?.begun?.(concurrency);
    await Promise.all(Array.from({ length: concurrency }, () => this.#work()));
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      await this.#look(key);
      this.#queue.done(key);
      const rest = this.#options.pause?.();
      if (rest !== undefined) await rest;
    }
  }

  async #look(key: Key): Promise<void> {
    const { clock, reconcile, world, observe } = this.#options;
    const startedAt = clock.now();
    observe?.started?.();
    let outcome: ReconcileOutcome = "success";
    try {
      const again = await reconcile(key, world);
      this.#queue.forget(key);
      if (again !== undefined) {
        outcome = "requeue-after";
        this.#queue.addAfter(key, again.afterMs);
      }
    } catch (error) {
      outcome = "error";
      this.#queue.retry(key, { atLeastMs: isKubeError(error) ? error.retryAfterMs : undefined });
      this.#options.onError?.({ reconciler: this.name, key, error, failures: this.#queue.failuresOf(key) });
    }
    observe?.finished?.(outcome, clock.now() - startedAt);
  }
}
