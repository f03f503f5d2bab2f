import type { Clock } from "./clock.ts";

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Allows a burst, then a rate per second. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #clock: Clock;
  /** Negative while callers wait for tokens they reserved. */
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
    this.#tokens = rate.burst;
    this.#filledAt = clock.now();
  }

  /** Takes a token; false if there is none. */
  tryTake(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token, waiting for it in order of arrival. A caller that gives up returns its token. */
  async take(signal?: AbortSignal): Promise<void> {
    const ms = this.reserve();
    if (ms <= 0) return;
    try {
      await this.#clock.sleep(ms, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }

  /** Reserves a token and returns after how many milliseconds it may be used. */
  reserve(): number {
    this.#fill();
    this.#tokens -= 1;
    return this.#tokens < 0 ? Math.ceil((-this.#tokens / this.#rate.perSecond) * 1000) : 0;
  }

  #fill(): void {
    const now = this.#clock.now();
    const { perSecond, burst } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
  }
}
