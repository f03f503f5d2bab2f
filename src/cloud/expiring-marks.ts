import type { Clock } from "../util/clock.ts";

/** Things that are marked for a while. */
export class ExpiringMarks<T> {
  readonly #clock: Pick<Clock, "now">;
  readonly #forMs: number;
  readonly #until = new Map<string, { readonly value: T; readonly until: number }>();
  #revision = 0;

  constructor({ clock, forMs }: { readonly clock: Pick<Clock, "now">; readonly forMs: number }) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** Marking again restarts the time. */
  mark(key: string, value: T): void {
    this.#until.delete(key); // moves to the end, so that entries stay in order of expiry
    this.#until.set(key, { value, until: this.#clock.now() + this.#forMs });
    this.#revision++;
  }

  has(key: string): boolean {
    this.#dropExpired();
    return this.#until.has(key);
  }

  values(): readonly T[] {
    this.#dropExpired();
    return [...this.#until.values()].map(({ value }) => value);
  }

  /** Changes whenever an answer changes. */
  get revision(): number {
    this.#dropExpired();
    return this.#revision;
  }

  #dropExpired(): void {
    const now = this.#clock.now();
    for (const [key, { until }] of this.#until) {
      if (until > now) return;
      this.#until.delete(key);
      this.#revision++;
    }
  }
}
