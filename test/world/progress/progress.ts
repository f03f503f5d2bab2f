import type { Clock, Timer } from "../../../src/util/clock.ts";
import type { Obligation } from "./obligations.ts";

export interface ProgressOptions {
  readonly clock: Clock;
  /** What is owed now. */
  readonly owed: () => readonly Obligation[];
  readonly complain: (what: string) => void;
}

const everyMs = 1_000;

/**
 * Looks at a cluster every second in which it changes or something is owed, and complains when something stayed owed for longer than it may: a
 * controller that nothing wakes comes to the right end as well, but minutes later.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #owedSince = new Map<string, number>();
  readonly #complained = new Set<string>();
  #timer: Timer | undefined;
  #isStopped = false;
  #excusedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  /** Something changed: looks now and then until nothing is owed any more. */
  onChange(): void {
    if (this.#isStopped) return;
    this.#timer ??= this.#options.clock.setTimer(everyMs, () => {
      this.#timer = undefined;
      this.#look();
      if (this.#owedSince.size > 0) this.onChange();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Nobody can be expected to act for so long: everything owed counts from then on. */
  excuse(ms: number): void {
    this.#excusedUntil = Math.max(this.#excusedUntil, this.#options.clock.now() + ms);
    this.#owedSince.clear();
    if (Number.isFinite(ms)) this.#options.clock.setTimer(ms, () => this.onChange());
  }

  /** Ends every excuse. */
  judgeFromNow(): void {
    this.#excusedUntil = Number.NEGATIVE_INFINITY;
    this.onChange();
  }

  #look(): void {
    const now = this.#options.clock.now();
    if (now < this.#excusedUntil) return;
    const owed = new Map(this.#options.owed().map((one) => [one.what, one.withinMs]));
    for (const what of [...this.#owedSince.keys()]) if (!owed.has(what)) this.#owedSince.delete(what);
    for (const [what, withinMs] of owed) {
      const since = this.#owedSince.get(what) ?? now;
      this.#owedSince.set(what, since);
      if (now - since <= withinMs || this.#complained.has(what)) continue;
      this.#complained.add(what);
      this.#options.complain(`${what} for ${(now - since) / 1_000} s`);
    }
  }
}
