import type { Clock } from "../util/clock.ts";

/** Consolidation is tried again after this long even without a change. (02:S-41) */
const staleMs = 5 * 60_000;

/** Counts the changes that could make consolidation possible: two of them may come in the same millisecond. (02:S-40) */
export class ConsolidationClock {
  readonly #clock: Clock;
  #changedAt: number;
  #epoch = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#changedAt = clock.now();
  }

  changed(): void {
    this.#changedAt = this.#clock.now();
    this.#epoch++;
  }

  epoch(): number {
    if (this.#clock.now() - this.#changedAt >= staleMs) this.changed();
    return this.#epoch;
  }
}
