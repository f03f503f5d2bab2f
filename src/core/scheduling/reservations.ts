import { type InstanceType, offeringReservationId } from "../instance-type.ts";

/** How many nodes of each reservation are left, and which host holds which. (02 §5.11) */
export class Reservations {
  readonly #capacityLeft = new Map<string, number>();
  readonly #reservedByHost = new Map<number, ReadonlySet<string>>();

  /** Where offerings disagree about a reservation, the smaller number counts. (02:Y-1) */
  constructor(types: Iterable<InstanceType>) {
    for (const { offerings } of types) {
      for (const offering of offerings) {
        const id = offeringReservationId(offering);
        if (id === undefined) continue;
        const capacity = offering.reservationCapacity ?? 0;
        this.#capacityLeft.set(id, Math.min(this.#capacityLeft.get(id) ?? capacity, capacity));
      }
    }
  }

  get isEmpty(): boolean {
    return this.#capacityLeft.size === 0;
  }

  reservedBy(hostIndex: number): ReadonlySet<string> {
    return this.#reservedByHost.get(hostIndex) ?? noReservations;
  }

  canReserve(hostIndex: number, id: string): boolean {
    return this.reservedBy(hostIndex).has(id) || (this.#capacityLeft.get(id) ?? 0) > 0;
  }

  /** Reserves exactly these for a host, and releases those it held and no longer needs. (02:Y-4) */
  reserveExactly(hostIndex: number, ids: ReadonlySet<string>): void {
    const before = this.reservedBy(hostIndex);
    for (const id of ids) if (!before.has(id)) this.#capacityLeft.set(id, (this.#capacityLeft.get(id) ?? 0) - 1);
    for (const id of before) if (!ids.has(id)) this.#capacityLeft.set(id, (this.#capacityLeft.get(id) ?? 0) + 1);
    this.#reservedByHost.set(hostIndex, ids);
  }

  /** Gives back what the host holds. */
  release(hostIndex: number): void {
    this.reserveExactly(hostIndex, noReservations);
    this.#reservedByHost.delete(hostIndex);
  }
}

const noReservations: ReadonlySet<string> = new Set();
