import type { Clock, Timer } from "../../util/clock.ts";
import type { Trigger } from "./trigger.ts";

export interface BatcherOptions {
  readonly trigger: Trigger;
  readonly clock: Clock;
  /** How long nobody new may come before a window ends. */
  readonly idleMs: number;
  /** How long a window lasts at most. */
  readonly maxMs: number;
}

/**
 * Gathers what asks for a round, so that a Deployment of a hundred pods is one round and not a hundred. A window opens
 * with the first that asks and ends when nobody new came for a while, or after its longest time. (02:P-20)
 */
export class Batcher {
  readonly #options: BatcherOptions;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Resolves when a window has ended: true; or when the signal aborts: false. */
  async window(signal: AbortSignal): Promise<boolean> {
    const { trigger } = this.#options;
    const hasCome = await this.#first(signal);
    if (hasCome) await this.#quiet(signal);
    trigger.listen(() => {});
    trigger.clear();
    return !signal.aborted;
  }

  #first(signal: AbortSignal): Promise<boolean> {
    const { trigger } = this.#options;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      if (trigger.take()) return resolve(true);
      const abort = (): void => resolve(false);
      signal.addEventListener("abort", abort, { once: true });
      trigger.listen(() => {
        trigger.take();
        signal.removeEventListener("abort", abort);
        resolve(true);
      });
    });
  }

  /** One timer, set again when it finds that somebody came meanwhile: twenty thousand arrivals cost no timers. */
  #quiet(signal: AbortSignal): Promise<void> {
    const { trigger, clock, idleMs, maxMs } = this.#options;
    const endsAt = clock.now() + maxMs;
    let quietAt = clock.now() + idleMs;
    let timer: Timer | undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        timer?.cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const look = (): void => {
        const leftMs = Math.min(quietAt, endsAt) - clock.now();
        if (leftMs <= 0) end();
        else timer = clock.setTimer(leftMs, look);
      };
      trigger.listen(() => {
        trigger.take();
        quietAt = clock.now() + idleMs;
      });
      signal.addEventListener("abort", end, { once: true });
      look();
    });
  }
}
