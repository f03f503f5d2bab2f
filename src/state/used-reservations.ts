import { type InstanceType, type Offering, offeringReservationId } from "../core/instance-type.ts";
import type { Pool } from "../core/scheduling/problem.ts";

/** The pools with what is left of each reservation after some of its instances were launched. */
export function withoutUsedReservations(pools: readonly Pool[], used: ReadonlyMap<string, number>): readonly Pool[] {
  if (used.size === 0) return pools;
  const known = new Map<InstanceType, InstanceType>();
  return pools.map((pool) => ({
    ...pool,
    instanceTypes: pool.instanceTypes.map((type) => {
      const current = known.get(type) ?? typeWithout(type, used);
      known.set(type, current);
      return current;
    }),
  }));
}

function typeWithout(type: InstanceType, used: ReadonlyMap<string, number>): InstanceType {
  const usage = (offering: Offering): number => used.get(offeringReservationId(offering) ?? "") ?? 0;
  if (!type.offerings.some((offering) => usage(offering) > 0)) return type;
  const offerings = type.offerings.map((offering): Offering => {
    const { reservationCapacity: before } = offering;
    if (before === undefined || usage(offering) === 0) return offering;
    const reservationCapacity = Math.max(0, before - usage(offering));
    return { ...offering, reservationCapacity, available: offering.available && reservationCapacity > 0 };
  });
  return { ...type, offerings };
}
