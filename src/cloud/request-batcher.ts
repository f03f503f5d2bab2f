import type { Clock, Timer } from "../util/clock.ts";
import { Semaphore } from "../util/semaphore.ts";

/** What became of one request of a batch. */
export type BatchResult<Output> =
  | { readonly kind: "done"; readonly output: Output }
  | { readonly kind: "failed"; readonly error: unknown };

export interface RequestBatcherOptions<Input, Output> {
  readonly clock: Clock;
  /** A batch runs when nothing was added to it for this long, */
  readonly idleMs: number;
  /** when it is this old, */
  readonly maxMs: number;
  /** or when it has this many requests. */
  readonly maxItems: number;
  /** Requests with the same key go together. */
  readonly keyOf: (input: Input) => string;
  /** Answers for all of them, in their order. A thrown error is the answer to each. */
  readonly run: (inputs: readonly Input[]) => Promise<readonly BatchResult<Output>[]>;
  readonly observe?: ((batch: { readonly size: number; readonly waitedMs: number }) => void) | undefined;
}

const maxConcurrentBatches = 100;

interface WaitingRequest<Input, Output> {
  readonly input: Input;
  readonly resolve: (output: Output) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch<Input, Output> {
  readonly openedAt: number;
  readonly requests: WaitingRequest<Input, Output>[];
  timer: Timer;
}

/** Collects requests that arrive together and makes one call for them. (04 §3.5) */
export class RequestBatcher<Input, Output> {
  readonly #options: RequestBatcherOptions<Input, Output>;
  readonly #open = new Map<string, Batch<Input, Output>>();
  readonly #places = new Semaphore(maxConcurrentBatches);

  constructor(options: RequestBatcherOptions<Input, Output>) {
    this.#options = options;
  }

  add(input: Input): Promise<Output> {
    const { clock, keyOf, idleMs, maxMs, maxItems } = this.#options;
    const key = keyOf(input);
    return new Promise((resolve, reject) => {
      const now = clock.now();
      const batch = this.#open.get(key) ?? { openedAt: now, requests: [], timer: noTimer };
      this.#open.set(key, batch);
      batch.requests.push({ input, resolve, reject });
      batch.timer.cancel();
      if (batch.requests.length >= maxItems) this.#close(key, batch);
      else {
        const waitMs = Math.min(idleMs, batch.openedAt + maxMs - now);
        batch.timer = clock.setTimer(waitMs, () => this.#close(key, batch));
      }
    });
  }

  #close(key: string, batch: Batch<Input, Output>): void {
    this.#open.delete(key);
    const { clock, observe } = this.#options;
    observe?.({ size: batch.requests.length, waitedMs: clock.now() - batch.openedAt });
    void this.#run(batch.requests);
  }

  async #run(requests: readonly WaitingRequest<Input, Output>[]): Promise<void> {
    const release = await this.#places.acquire();
    try {
      const results = await this.#options.run(requests.map(({ input }) => input));
      requests.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result?.kind === "done") resolve(result.output);
        else reject(result?.error ?? new Error("a batch left a request without an answer"));
      });
    } catch (error) {
      for (const { reject } of requests) reject(error);
    } finally {
      release();
    }
  }
}

const noTimer: Timer = { cancel: () => {} };
