import type { Clock } from "../util/clock.ts";
import { type OfferingKey, offeringText } from "./offering-key.ts";

/** How long an offering that was sold out is not asked for again. (04 §2.7) */
export const unavailableMs = 3 * 60_000;

/** Remembers which offerings a cloud could not deliver, so that the next round looks elsewhere. (02:L-32, 04 §2.7) */
export class UnavailableOfferings {
  readonly #clock: Pick<Clock, "now">;
  readonly #forMs: number;
  readonly #until = new Map<string, { readonly key: OfferingKey; readonly until: number }>();
  #revision = 0;

  constructor({ clock, forMs = unavailableMs }: { readonly clock: Pick<Clock, "now">; readonly forMs?: number }) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** Marking again begins anew. */
  mark(key: OfferingKey): void {
    const text = offeringText(key);
    this.#until.delete(text); // to the end: entries stay in the order they run out
    this.#until.set(text, { key, until: this.#clock.now() + this.#forMs });
    this.#revision++;
  }

  has(key: OfferingKey): boolean {
    this.#forget();
    return this.#until.has(offeringText(key));
  }

  /** Types with something to remember of. */
  types(): ReadonlySet<string> {
    this.#forget();
    return new Set([...this.#until.values()].map(({ key }) => key.instanceType));
  }

  /** Another number whenever answers changed. */
  get revision(): number {
    this.#forget();
    return this.#revision;
  }

  #forget(): void {
    const now = this.#clock.now();
    for (const [text, { until }] of this.#until) {
      if (until > now) return;
      this.#until.delete(text);
      this.#revision++;
    }
  }
}
