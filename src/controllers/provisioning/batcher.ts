import type { Clock, Timer } from "../../util/clock.ts";
import type { ProvisioningTrigger } from "./provisioning-trigger.ts";

export interface BatcherOptions {
  readonly trigger: ProvisioningTrigger;
  readonly clock: Clock;
  /** A window ends after this long without a new trigger. */
  readonly idleMs: number;
  /** The longest a window lasts. */
  readonly maxMs: number;
}

/** Why a window ended: nothing came for a while, its longest time was over, or the batcher was stopped. */
export type WindowEnd = "pause" | "maximum" | "stopped";

/**
 * Collects triggers, so that a Deployment of a hundred pods is one round. A window opens with the first trigger and
 * ends after a pause, or after its maximum time. Once there is a trigger that cannot wait, those that can do not prolong it. (02:P-20)
 */
export class Batcher {
  readonly #options: BatcherOptions;

  constructor(options: BatcherOptions) {
    this.#options = options;
  }

  /** Resolves when a window has ended, or when the signal aborts. */
  async nextWindow(signal: AbortSignal): Promise<WindowEnd> {
    const { trigger } = this.#options;
    const hasTriggered = await this.#firstTrigger(signal);
    const end = hasTriggered ? await this.#idle(signal) : "stopped";
    trigger.listen(() => {});
    trigger.startNextWindow();
    return end;
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

  /** One timer, set again if a trigger came meanwhile: thousands of triggers need no further timers. */
  #idle(signal: AbortSignal): Promise<WindowEnd> {
    const { trigger, clock, idleMs, maxMs } = this.#options;
    const endsAt = clock.now() + maxMs;
    let idleAt = clock.now() + idleMs;
    let timer: Timer | undefined;
    return new Promise((resolve) => {
      const end = (): void => {
        timer?.cancel();
        signal.removeEventListener("abort", end);
        resolve(signal.aborted ? "stopped" : idleAt <= clock.now() ? "pause" : "maximum");
      };
      const check = (): void => {
        const leftMs = Math.min(idleAt, endsAt) - clock.now();
        if (leftMs <= 0) end();
        else timer = clock.setTimer(leftMs, check);
      };
      trigger.listen((canWait) => {
        trigger.takeArmed();
        if (!canWait || !trigger.isPressing) idleAt = clock.now() + idleMs;
      });
      signal.addEventListener("abort", end, { once: true });
      check();
    });
  }
}
