import { type InstanceType, reservationId } from "../instance-type.ts";

/** How many machines of each reservation are left, and which planned node holds which. (02 §5.11) */
export class Reservations {
  readonly #left = new Map<string, number>();
  readonly #held = new Map<number, ReadonlySet<string>>();

  /** Where offerings disagree about a reservation, the smaller number counts. (02:Y-1) */
  constructor(types: Iterable<InstanceType>) {
    for (const { offerings } of types) {
      for (const offering of offerings) {
        const id = reservationId(offering);
        if (id === undefined) continue;
        const capacity = offering.reservationCapacity ?? 0;
        this.#left.set(id, Math.min(this.#left.get(id) ?? capacity, capacity));
      }
    }
  }

  get isEmpty(): boolean {
    return this.#left.size === 0;
  }

  heldBy(host: number): ReadonlySet<string> {
    return this.#held.get(host) ?? none;
  }

  canHold(host: number, id: string): boolean {
    return this.heldBy(host).has(id) || (this.#left.get(id) ?? 0) > 0;
  }

  /** Takes exactly these for a host: new ones are counted off, those it held and needs no more go back. (02:Y-4) */
  hold(host: number, ids: ReadonlySet<string>): void {
    const before = this.heldBy(host);
    for (const id of ids) if (!before.has(id)) this.#left.set(id, (this.#left.get(id) ?? 0) - 1);
    for (const id of before) if (!ids.has(id)) this.#left.set(id, (this.#left.get(id) ?? 0) + 1);
    this.#held.set(host, ids);
  }
}

const none: ReadonlySet<string> = new Set();
