import type { Clock } from "../util/clock.ts";
import { type OfferingKey, offeringKeyText } from "./offering-key.ts";

/** How long an unavailable offering is not tried again. (04 §2.7) */
const unavailableTtlMs = 3 * 60_000;

/** Offerings that could not be launched, so that the next round uses others. (02:L-32, 04 §2.7) */
export class UnavailableOfferings {
  readonly #clock: Pick<Clock, "now">;
  readonly #forMs: number;
  readonly #until = new Map<string, { readonly key: OfferingKey; readonly until: number }>();
  #revision = 0;

  constructor({ clock, forMs = unavailableTtlMs }: { readonly clock: Pick<Clock, "now">; readonly forMs?: number }) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** Marking again restarts the time. */
  markUnavailable(key: OfferingKey): void {
    const text = offeringKeyText(key);
    this.#until.delete(text); // moves to the end, so that entries stay in order of expiry
    this.#until.set(text, { key, until: this.#clock.now() + this.#forMs });
    this.#revision++;
  }

  isUnavailable(key: OfferingKey): boolean {
    this.#dropExpired();
    return this.#until.has(offeringKeyText(key));
  }

  /** Types with an unavailable offering. */
  types(): ReadonlySet<string> {
    this.#dropExpired();
    return new Set([...this.#until.values()].map(({ key }) => key.instanceType));
  }

  /** Changes whenever an answer changes. */
  get revision(): number {
    this.#dropExpired();
    return this.#revision;
  }

  #dropExpired(): void {
    const now = this.#clock.now();
    for (const [text, { until }] of this.#until) {
      if (until > now) return;
      this.#until.delete(text);
      this.#revision++;
    }
  }
}
