import { offeringKey } from "../../cloud/offering-key.ts";
import type { UnavailableOfferings } from "../../cloud/unavailable-offerings.ts";
import type { InstanceType, Offering } from "../../core/instance-type.ts";
import type { OfferingSupply } from "./offering-supply.ts";

/** What changes about types while their description stays. */
export interface OfferingState {
  readonly supply: OfferingSupply;
  readonly unavailable: UnavailableOfferings;
}

/** Instance types as they can be had now. The same list comes back until something changed, and the same types in it. */
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
    const soldOut = unavailable.types();
    this.#current = this.#catalogue.map((type) => {
      const hasChanges = soldOut.has(type.name) || supply.hasPricesFor(type.name) || hasReservations(type);
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
    const { reservationCapacity: held } = offering;
    const left = held === undefined ? undefined : Math.max(0, held - supply.reservationUsage(key));
    const available = offering.available && !unavailable.isUnavailable(key) && left !== 0;
    const isSame = price === offering.price && available === offering.available && left === held;
    return isSame
      ? offering
      : { ...offering, price, available, ...(left !== undefined && { reservationCapacity: left }) };
  });
  return offerings.every((offering, index) => offering === type.offerings[index]) ? type : { ...type, offerings };
}
