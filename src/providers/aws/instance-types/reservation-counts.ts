import type { CapacityReservation } from "@aws-sdk/client-ec2";
import type { Clock } from "../../../util/clock.ts";

/** How long a count is believed that EC2 has not confirmed. (04 §2.5) */
const believedMs = 24 * 60 * 60_000;

interface ReservationCount {
  readonly left: number;
  readonly syncedAt: number;
}

/** How many instances each capacity reservation has left: as EC2 said last, with our own launches since. (04 §2.5) */
export class ReservationCounts {
  readonly #clock: Pick<Clock, "now">;
  readonly #counts = new Map<string, ReservationCount>();
  #revision = 0;

  constructor({ clock }: { readonly clock: Pick<Clock, "now"> }) {
    this.#clock = clock;
  }

  /** What EC2 says already counts the launches before it was asked. */
  sync(reservations: readonly CapacityReservation[]): void {
    const syncedAt = this.#clock.now();
    for (const { CapacityReservationId: id, AvailableInstanceCount: left = 0 } of reservations) {
      if (id !== undefined) this.#set(id, { left, syncedAt });
    }
  }

  /** Zero if nothing is known. */
  left(id: string): number {
    this.#dropOld();
    return this.#counts.get(id)?.left ?? 0;
  }

  /** One was launched. A list read later has counted it already. */
  launched(id: string): void {
    const count = this.#counts.get(id);
    if (count === undefined || count.syncedAt > this.#clock.now()) return;
    this.#set(id, { ...count, left: Math.max(0, count.left - 1) });
  }

  terminated(id: string): void {
    const count = this.#counts.get(id);
    if (count !== undefined) this.#set(id, { ...count, left: count.left + 1 });
  }

  /** EC2 refused to launch from it, or takes its instances back. */
  markExhausted(id: string): void {
    this.#set(id, { left: 0, syncedAt: this.#clock.now() });
  }

  /** Changes with any count, and when one is too old to be believed. */
  get revision(): number {
    this.#dropOld();
    return this.#revision;
  }

  #dropOld(): void {
    const now = this.#clock.now();
    for (const [id, { syncedAt }] of this.#counts) {
      if (now - syncedAt < believedMs) continue;
      this.#counts.delete(id);
      this.#revision++;
    }
  }

  #set(id: string, count: ReservationCount): void {
    if (this.#counts.get(id)?.left !== count.left) this.#revision++;
    this.#counts.set(id, count);
  }
}
