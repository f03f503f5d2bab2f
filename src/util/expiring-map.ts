import type { Clock } from "./clock.ts";

const sweepAtLeast = 1_024;

/** A map whose entries expire. */
export class ExpiringMap<V> {
  readonly #clock: Clock;
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>();
  #sweepAt = sweepAtLeast;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#clock.now() < entry.untilMs ? entry.value : undefined;
  }

  set(key: string, value: V, forMs: number): void {
    this.#entries.set(key, { value, untilMs: this.#clock.now() + forMs });
    if (this.#entries.size >= this.#sweepAt) this.#sweep();
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Entries held, including expired ones not yet swept. */
  get size(): number {
    return this.#entries.size;
  }

  /** Sweeps when the size has doubled, so that the cost per entry is constant. */
  #sweep(): void {
    const now = this.#clock.now();
    for (const [key, { untilMs }] of this.#entries) if (untilMs <= now) this.#entries.delete(key);
    this.#sweepAt = Math.max(sweepAtLeast, this.#entries.size * 2);
  }
}
