import type { Clock } from "../util/clock.ts";
import { ExpiringMarks } from "./expiring-marks.ts";
import { type OfferingKey, offeringKeyText } from "./offering-key.ts";

/** How long what is unavailable is not tried again. (04 §2.7) */
export const unavailableTtlMs = 3 * 60_000;

/** Offerings that could not be launched, so that the next round uses others. (02:L-32, 04 §2.7) */
export class UnavailableOfferings {
  readonly #marks: ExpiringMarks<OfferingKey>;

  constructor({ clock, forMs = unavailableTtlMs }: { readonly clock: Pick<Clock, "now">; readonly forMs?: number }) {
    this.#marks = new ExpiringMarks({ clock, forMs });
  }

  /** Marking again restarts the time. */
  markUnavailable(key: OfferingKey): void {
    this.#marks.mark(offeringKeyText(key), key);
  }

  isUnavailable(key: OfferingKey): boolean {
    return this.#marks.has(offeringKeyText(key));
  }

  /** Types with an unavailable offering. */
  types(): ReadonlySet<string> {
    return new Set(this.#marks.values().map(({ instanceType }) => instanceType));
  }

  /** Changes whenever an answer changes. */
  get revision(): number {
    return this.#marks.revision;
  }
}
