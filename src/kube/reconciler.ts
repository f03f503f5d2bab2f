import { onAbort } from "../util/abort.ts";
import type { Clock } from "../util/clock.ts";
import type { Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import type { BackOffOptions } from "./back-off.ts";
import { isKubeError } from "./kube-error.ts";
import { WorkQueue, type WorkQueueObserver } from "./work-queue.ts";

/** When to look at a key again. */
export interface RequeueAfter {
  readonly afterMs: number;
}

/**
 * Gets a key, reads the world again, makes one thing truer, and says when to look next. Harmless to repeat, safe to
 * crash anywhere. (docs/designs/interfaces.md)
 */
export type Reconcile<Key extends string, Context = unknown> = (
  key: Key,
  context: Context,
) => Promise<RequeueAfter | undefined>;

export interface ReconcilerOptions<Key extends string, Context> {
  /** For logs and metrics. */
  readonly name: string;
  readonly reconcile: Reconcile<Key, Context>;
  readonly context: Context;
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
  readonly workersStarted?: (concurrency: number) => void;
  readonly runStarted?: () => void;
  readonly runFinished?: (outcome: ReconcileOutcome, durationMs: number) => void;
}

export type ReconcileOutcome = "success" | "requeue-after" | "error";

/** Runs one reconcile over a queue of keys. What it throws is that key's trouble alone. */
export class Reconciler<Key extends string, Context = unknown> {
  readonly name: string;
  readonly #options: ReconcilerOptions<Key, Context>;
  readonly #queue: WorkQueue<Key>;

  constructor(options: ReconcilerOptions<Key, Context>) {
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
    onAbort(signal, () => this.#queue.stop());
    const { concurrency = 1, observe } = this.#options;
    observe?.workersStarted?.(concurrency);
    await Promise.all(Array.from({ length: concurrency }, () => this.#worker()));
  }

  async #worker(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      await this.#reconcile(key);
      this.#queue.done(key);
      const pausing = this.#options.pause?.();
      if (pausing !== undefined) await pausing;
    }
  }

  async #reconcile(key: Key): Promise<void> {
    const { clock, reconcile, context, observe } = this.#options;
    const startedAt = clock.now();
    observe?.runStarted?.();
    let outcome: ReconcileOutcome = "success";
    try {
      const requeue = await reconcile(key, context);
      this.#queue.forget(key);
      if (requeue !== undefined) {
        outcome = "requeue-after";
        this.#queue.addAfter(key, requeue.afterMs);
      }
    } catch (error) {
      outcome = "error";
      this.#queue.retry(key, { atLeastMs: isKubeError(error) ? error.retryAfterMs : undefined });
      this.#options.onError?.({ reconciler: this.name, key, error, failures: this.#queue.failuresOf(key) });
    }
    observe?.runFinished?.(outcome, clock.now() - startedAt);
  }
}
