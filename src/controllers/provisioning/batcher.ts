import type { Clock, Timer } from "../../util/clock.ts";
import type { ProvisioningTrigger } from "./provisioning-trigger.ts";

export interface BatcherOptions {
  readonly trigger: ProvisioningTrigger;
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
  async nextWindow(signal: AbortSignal): Promise<boolean> {
    const { trigger } = this.#options;
    const hasTriggered = await this.#firstTrigger(signal);
    if (hasTriggered) await this.#idle(signal);
    trigger.listen(() => {});
    trigger.startNextWindow();
    return !signal.aborted;
  }

  #firstTrigger(signal: AbortSignal): Promise<boolean> {
    const { trigger } = this.#options;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      if (trigger.takeArmed()) return resolve(true);
      const abort = (): void => resolve(false);
      signal.addEventListener("abort", abort, { once: true });
      trigger.listen(() => {
        trigger.takeArmed();
        signal.removeEventListener("abort", abort);
        resolve(true);
      });
    });
  }

  /** One timer, set again when it finds that somebody came meanwhile: twenty thousand arrivals cost no timers. */
  #idle(signal: AbortSignal): Promise<void> {
    const { trigger, clock, idleMs, maxMs } = this.#options;
    const endsAt = clock.now() + maxMs;
    let idleAt = clock.now() + idleMs;
    let timer: Timer | undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        timer?.cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const check = (): void => {
        const leftMs = Math.min(idleAt, endsAt) - clock.now();
        if (leftMs <= 0) end();
        else timer = clock.setTimer(leftMs, check);
      };
      trigger.listen(() => {
        trigger.takeArmed();
        idleAt = clock.now() + idleMs;
      });
      signal.addEventListener("abort", end, { once: true });
      check();
    });
  }
}
