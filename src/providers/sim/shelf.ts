import { offeringKey } from "../../cloud/offering-key.ts";
import type { UnavailableOfferings } from "../../cloud/unavailable-offerings.ts";
import type { InstanceType, Offering } from "../../core/instance-type.ts";
import type { Market } from "./market.ts";

/** What changes about types while their description stays. */
export interface Trade {
  readonly market: Market;
  readonly unavailable: UnavailableOfferings;
}

/** Instance types as they can be had now. The same list comes back until something changed, and the same types in it. */
export class Shelf {
  readonly #catalogue: readonly InstanceType[];
  readonly #trade: Trade;
  #shown: readonly InstanceType[];
  #shownAt = "0/0";

  constructor(catalogue: readonly InstanceType[], trade: Trade) {
    this.#catalogue = catalogue;
    this.#shown = catalogue;
    this.#trade = trade;
  }

  types(): readonly InstanceType[] {
    const { market, unavailable } = this.#trade;
    const now = `${market.revision}/${unavailable.revision}`;
    if (now === this.#shownAt) return this.#shown;
    const soldOut = unavailable.types();
    this.#shown = this.#catalogue.map((type) => {
      const isTraded = soldOut.has(type.name) || market.hasPricesFor(type.name) || hasReservations(type);
      return isTraded ? traded(type, this.#trade) : type;
    });
    this.#shownAt = now;
    return this.#shown;
  }
}

function hasReservations({ offerings }: InstanceType): boolean {
  return offerings.some(({ reservationCapacity }) => reservationCapacity !== undefined);
}

function traded(type: InstanceType, { market, unavailable }: Trade): InstanceType {
  const offerings = type.offerings.map((offering): Offering => {
    const key = offeringKey(type, offering);
    const price = market.priceOf(key) ?? offering.price;
    const { reservationCapacity: held } = offering;
    const left = held === undefined ? undefined : Math.max(0, held - market.usedOf(key));
    const available = offering.available && !unavailable.has(key) && left !== 0;
    const isSame = price === offering.price && available === offering.available && left === held;
    return isSame
      ? offering
      : { ...offering, price, available, ...(left !== undefined && { reservationCapacity: left }) };
  });
  return offerings.every((offering, index) => offering === type.offerings[index]) ? type : { ...type, offerings };
}
