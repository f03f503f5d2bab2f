import { offeringKey } from "../../cloud/offering-key.ts";
import type { UnavailableOfferings } from "../../cloud/unavailable-offerings.ts";
import type { InstanceType, Offering } from "../../core/instance-type.ts";
import type { OfferingSupply } from "./offering-supply.ts";

/** What changes about offerings while instance types stay the same. */
export interface OfferingState {
  readonly supply: OfferingSupply;
  readonly unavailable: UnavailableOfferings;
}

/** Instance types with current prices and availability. Returns the same list until something changes. */
export class CurrentInstanceTypes {
  readonly #catalogue: readonly InstanceType[];
  readonly #offeringState: OfferingState;
  #current: readonly InstanceType[];
  #currentRevision = "0/0";

  constructor(catalogue: readonly InstanceType[], offeringState: OfferingState) {
    this.#catalogue = catalogue;
    this.#current = catalogue;
    this.#offeringState = offeringState;
  }

  list(): readonly InstanceType[] {
    const { supply, unavailable } = this.#offeringState;
    const now = `${supply.revision}/${unavailable.revision}`;
    if (now === this.#currentRevision) return this.#current;
    const unavailableTypes = unavailable.types();
    this.#current = this.#catalogue.map((type) => {
      const hasChanges = unavailableTypes.has(type.name) || supply.hasPricesFor(type.name) || hasReservations(type);
      return hasChanges ? withCurrentOfferings(type, this.#offeringState) : type;
    });
    this.#currentRevision = now;
    return this.#current;
  }
}

function hasReservations({ offerings }: InstanceType): boolean {
  return offerings.some(({ reservationCapacity }) => reservationCapacity !== undefined);
}

function withCurrentOfferings(type: InstanceType, { supply, unavailable }: OfferingState): InstanceType {
  const offerings = type.offerings.map((offering): Offering => {
    const key = offeringKey(type, offering);
    const price = supply.priceOf(key) ?? offering.price;
    const { reservationCapacity: total } = offering;
    const left = total === undefined ? undefined : Math.max(0, total - supply.reservationUsage(key));
    const available = offering.available && !unavailable.isUnavailable(key) && left !== 0;
    const isSame = price === offering.price && available === offering.available && left === total;
    return isSame
      ? offering
      : { ...offering, price, available, ...(left !== undefined && { reservationCapacity: left }) };
  });
  return offerings.every((offering, index) => offering === type.offerings[index]) ? type : { ...type, offerings };
}
