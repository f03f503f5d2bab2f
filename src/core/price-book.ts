import { type InstanceType, type Offering, offeringCapacityType, offeringZone } from "./instance-type.ts";
import type { PriceSource } from "./price-source.ts";

/** A price of the user's own. */
export interface BookPrice {
  readonly type: string;
  /** Every zone, if absent. */
  readonly zone?: string | undefined;
  readonly capacityType: string;
  /** Dollars an hour. */
  readonly price: number;
  readonly source: PriceSource;
  /** The region it holds in; every one, if absent. */
  readonly region?: string | undefined;
}

/** A discount on prices that are not written in a price book. */
export interface BookDiscount {
  /** One type, all of a family, or all types, if neither is there. */
  readonly type?: string | undefined;
  readonly family?: string | undefined;
  /** Every capacity type, if absent. */
  readonly capacityType?: string | undefined;
  readonly percent: number;
  readonly file: string;
}

export interface BookEntries {
  readonly prices: readonly BookPrice[];
  readonly discounts: readonly BookDiscount[];
}

/** Prices and discounts of the user's own, which take the place of those of a catalogue. */
export class PriceBook {
  /** By type, then by zone and capacity type; of equals the last counts. */
  readonly #prices = new Map<string, BookPrice[]>();
  readonly #discounts: readonly BookDiscount[];

  constructor({ prices, discounts }: BookEntries) {
    for (const price of prices) {
      const known = this.#prices.get(price.type);
      if (known === undefined) this.#prices.set(price.type, [price]);
      else known.push(price);
    }
    this.#discounts = discounts;
  }

  /** The types somebody wrote a price for by hand, which are worth a note if they are not in the catalogue. */
  get writtenTypes(): readonly string[] {
    const isWritten = ({ source }: BookPrice): boolean => source.kind === "price-book" && source.date === undefined;
    return [...this.#prices].flatMap(([type, prices]) => (prices.some(isWritten) ? [type] : []));
  }

  /** The types with its prices; a type it says nothing about stays the same object. */
  applyTo(types: readonly InstanceType[], region: string | undefined): readonly InstanceType[] {
    return types.map((type) => {
      const offerings = type.offerings.map((offering) => this.#repriced(type.name, offering, region));
      return offerings.every((one, index) => one === type.offerings[index]) ? type : { ...type, offerings };
    });
  }

  /** Whether some offering of the type has a price or a discount of the book. */
  covers(type: InstanceType, region: string | undefined): boolean {
    return type.offerings.some((offering) => this.#repriced(type.name, offering, region) !== offering);
  }

  /** Some price of a type that has none in the catalogue, and so counts as not available there. */
  priceOf({ type, capacityType, region }: Omit<PricedPlace, "zone">): number | undefined {
    return this.#matching({ type, capacityType, region }).at(-1)?.price;
  }

  #repriced(type: string, offering: Offering, region: string | undefined): Offering {
    const [zone, capacityType] = [offeringZone(offering), offeringCapacityType(offering)];
    if (capacityType === undefined) return offering;
    const written = this.#written({ type, zone, capacityType, region });
    const listed: Offering =
      written === undefined ? offering : { ...offering, price: written.price, priceSource: written.source };
    return listed.priceSource?.kind === "price-book" ? listed : this.#discounted(type, capacityType, listed);
  }

  /** A price of the zone counts before one of all zones. */
  #written({ type, zone, capacityType, region }: PricedPlace): BookPrice | undefined {
    const matching = this.#matching({ type, capacityType, region });
    return (
      matching.findLast((one) => one.zone !== undefined && one.zone === zone) ??
      matching.findLast((one) => one.zone === undefined)
    );
  }

  #matching({ type, capacityType, region }: Omit<PricedPlace, "zone">): readonly BookPrice[] {
    return (this.#prices.get(type) ?? []).filter(
      (one) =>
        one.capacityType === capacityType &&
        (one.region === undefined || region === undefined || one.region === region),
    );
  }

  /** A discount on the type counts before one on its family, and that before one on all. */
  #discounted(type: string, capacityType: string, offering: Offering): Offering {
    const matching = this.#discounts.filter(
      (one) =>
        (one.capacityType === undefined || one.capacityType === capacityType) &&
        (one.type === undefined || one.type === type) &&
        (one.family === undefined || one.family === familyOfType(type)),
    );
    const discount =
      matching.findLast((one) => one.type !== undefined) ??
      matching.findLast((one) => one.family !== undefined) ??
      matching.at(-1);
    if (discount === undefined) return offering;
    const { percent, file } = discount;
    const of = offering.priceSource;
    const priceSource: PriceSource = { kind: "discount", percent, file, ...(of !== undefined && { of }) };
    return { ...offering, price: offering.price * (1 - percent / 100), priceSource };
  }
}

interface PricedPlace {
  readonly type: string;
  readonly zone: string | undefined;
  readonly capacityType: string;
  readonly region: string | undefined;
}

/** `m5` of m5.large, `u-6tb1` of u-6tb1.metal, `c` of KWOK's c-4x-amd64-linux. */
function familyOfType(type: string): string {
  return type.split(type.includes(".") ? "." : "-", 1)[0] ?? type;
}
