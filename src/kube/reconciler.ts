import { onAbort } from "../util/abort.ts";
import type { BackOffOptions } from "../util/back-off.ts";
import type { Clock } from "../util/clock.ts";
import type { Pause } from "../util/pause.ts";
import type { Random } from "../util/random.ts";
import { isKubeError } from "./kube-error.ts";
import { WorkQueue, type WorkQueueObserver } from "./work-queue.ts";

/** When to reconcile the key again. */
export interface RequeueAfter {
  readonly afterMs: number;
}

/** Undefined: nothing more to do until something changes. */
export type ReconcileResult = RequeueAfter | undefined;

/**
 * Reconciles one key: reads the current state, makes one change towards the desired one, and may ask to be requeued.
 * Must be idempotent and safe to interrupt. (docs/designs/interfaces.md)
 */
export type Reconcile<Key extends string, Context = unknown> = (key: Key, context: Context) => Promise<ReconcileResult>;

export interface ReconcilerOptions<Key extends string, Context> {
  /** For logs and metrics. */
  readonly name: string;
  readonly reconcile: Reconcile<Key, Context>;
  readonly context: Context;
  readonly clock: Clock;
  readonly random: Random;
  /** How many keys are reconciled at a time. */
  readonly concurrency?: number;
  readonly backOff?: BackOffOptions;
  /** Called between two keys: reconciles that never await would block the process. */
  readonly pause?: Pause | undefined;
  /** Called when a reconcile throws; the key is retried with back-off. */
  readonly onError?: (failure: ReconcileFailure<Key>) => void;
  readonly observe?: ReconcilerObserver;
}

export interface ReconcileFailure<Key extends string> {
  readonly reconciler: string;
  readonly key: Key;
  readonly error: unknown;
  /** Consecutive failures, including this one. */
  readonly failures: number;
}

/** What metrics record of a reconciler. (03 §6.1) */
export interface ReconcilerObserver extends WorkQueueObserver {
  /** The workers start, with this concurrency. */
  readonly workersStarted?: (concurrency: number) => void;
  readonly runStarted?: () => void;
  readonly runFinished?: (outcome: ReconcileOutcome, durationMs: number) => void;
}

export type ReconcileOutcome = "success" | "requeue-after" | "error";

/** Runs a reconcile function over a queue of keys. An exception only affects its key. */
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

  /** No key is queued, delayed or being reconciled. */
  get isIdle(): boolean {
    return this.#queue.isIdle;
  }

  enqueue(key: Key): void {
    this.#queue.add(key);
  }

  enqueueAfter(key: Key, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /** Runs until the signal aborts; resolves when the reconciles in progress have ended. */
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
        this.#queue.requeueAfter(key, requeue.afterMs);
      } else this.#queue.dropRequeue(key); // what an earlier run asked for is out of date
    } catch (error) {
      outcome = "error";
      this.#queue.retry(key, { atLeastMs: isKubeError(error) ? error.retryAfterMs : undefined });
      this.#options.onError?.({ reconciler: this.name, key, error, failures: this.#queue.failuresOf(key) });
    }
    observe?.runFinished?.(outcome, clock.now() - startedAt);
  }
}
