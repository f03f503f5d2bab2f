import { ExpiringMarks } from "../../../cloud/expiring-marks.ts";
import type { OfferingKey } from "../../../cloud/offering-key.ts";
import { UnavailableOfferings, unavailableTtlMs } from "../../../cloud/unavailable-offerings.ts";
import type { Clock } from "../../../util/clock.ts";

/** Where an offering would be launched. */
export interface OfferingPlace extends Omit<OfferingKey, "reservationId"> {
  /** Of the node class, in the zone. */
  readonly subnetIds: readonly string[];
}

/** What EC2 had no capacity for in the last minutes: offerings, capacity types, subnets without addresses. (04 §2.7) */
export class UnavailableCapacity {
  readonly offerings: UnavailableOfferings;
  readonly #capacityTypes: ExpiringMarks<string>;
  readonly #subnets: ExpiringMarks<string>;

  constructor({ clock }: { readonly clock: Pick<Clock, "now"> }) {
    this.offerings = new UnavailableOfferings({ clock });
    this.#capacityTypes = new ExpiringMarks({ clock, forMs: unavailableTtlMs });
    this.#subnets = new ExpiringMarks({ clock, forMs: unavailableTtlMs });
  }

  markCapacityType(capacityType: string): void {
    this.#capacityTypes.mark(capacityType, capacityType);
  }

  markSubnet(id: string): void {
    this.#subnets.mark(id, id);
  }

  /** A zone is out of addresses only if all of its subnets are. (04 §1.5) */
  isUnavailable({ subnetIds, placementGroupId, ...key }: OfferingPlace): boolean {
    return (
      this.offerings.isUnavailable(key) ||
      (placementGroupId !== undefined && this.offerings.isUnavailable({ ...key, placementGroupId })) ||
      this.#capacityTypes.has(key.capacityType) ||
      (subnetIds.length > 0 && subnetIds.every((id) => this.#subnets.has(id)))
    );
  }

  /** Changes whenever an answer changes. */
  get revision(): string {
    return `${this.offerings.revision}/${this.#capacityTypes.revision}/${this.#subnets.revision}`;
  }
}
