import type { NodeClaim } from "../api/kinds/node-claim.ts";
import { labels } from "../api/labels.ts";
import { type InstanceType, offeringCapacityType, offeringZone } from "../core/instance-type.ts";

/** Dollars an hour by type, zone and capacity type. */
export type PriceList = ReadonlyMap<string, number>;

/** The hourly price of a pool's nodes together. */
export interface PoolCost {
  readonly total: number;
  /** Claims without a known price; counted as zero. */
  readonly unpriced: readonly NodeClaim[];
}

/** Prices of all offerings, also unavailable ones: nodes remain when their offering is gone. */
export function priceList(types: readonly InstanceType[]): PriceList {
  const prices = new Map<string, number>();
  for (const { name, offerings } of types) {
    for (const offering of offerings) {
      const key = priceKey({ type: name, zone: offeringZone(offering), capacityType: offeringCapacityType(offering) });
      if (key !== undefined && !prices.has(key)) prices.set(key, offering.price);
    }
  }
  return prices;
}

/** Claims whose offering is not known yet are not counted. (03:S-7) */
export function poolCost(claims: readonly NodeClaim[], prices: PriceList): PoolCost {
  let total = 0;
  const unpriced: NodeClaim[] = [];
  for (const claim of claims) {
    const key = priceKeyOf(claim);
    if (key === undefined) continue;
    const price = prices.get(key);
    if (price === undefined) unpriced.push(claim);
    else total += price;
  }
  return { total, unpriced };
}

/** The offering a claim was launched from, once its labels say so. */
export function priceKeyOf({ metadata }: NodeClaim): string | undefined {
  const claimLabels = metadata.labels ?? {};
  return priceKey({
    type: claimLabels[labels.instanceType],
    zone: claimLabels[labels.zone],
    capacityType: claimLabels[labels.capacityType],
  });
}

interface PriceKeyParts {
  readonly type: string | undefined;
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
}

function priceKey(keyParts: PriceKeyParts): string | undefined {
  return keyParts.type && keyParts.zone && keyParts.capacityType
    ? `${keyParts.type} ${keyParts.zone} ${keyParts.capacityType}`
    : undefined;
}
