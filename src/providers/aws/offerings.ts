import { awsZoneId, labels } from "../../api/labels.ts";
import type { Offering } from "../../core/instance-type.ts";
import { Requirements } from "../../core/requirements.ts";
import type { Machine } from "./families.ts";
import type { NodeSettings } from "./node-settings.ts";
import type { Prices } from "./prices.ts";
import type { Zone } from "./regions.ts";
import { type RequirementPool, reservationRequirements } from "./requirements.ts";

/** One zone and capacity type, the same for every instance type. */
export interface Place {
  readonly zone: Zone;
  readonly capacityType: "on-demand" | "spot";
  readonly requirements: Requirements;
}

/** Every zone of the region, each on demand and on spot; the zone id is known where nodes can be. (04 §2.5) */
export function offeringPlaces(
  zones: readonly Zone[],
  { usable, pool }: { readonly usable: ReadonlySet<Zone>; readonly pool: RequirementPool },
): readonly Place[] {
  return zones.flatMap((zone) =>
    (["on-demand", "spot"] as const).map((capacityType) => ({
      zone,
      capacityType,
      requirements: Requirements.of(
        pool.in(labels.capacityType, [capacityType]),
        pool.in(labels.zone, [zone.name]),
        ...(usable.has(zone) ? [pool.in(awsZoneId, [zone.id])] : []),
        ...reservationRequirements(pool),
      ),
    })),
  );
}

export interface OfferingContext {
  readonly places: readonly Place[];
  /** Zones the type is offered in and nodes can be in. */
  readonly zones: readonly Zone[];
  readonly settings: NodeSettings;
  readonly prices: Prices;
}

/** Every way to buy the type; without a price, or where it is not offered, it cannot be had. (04 §2.5) */
export function offerings(machine: Machine, { places, zones, settings, prices }: OfferingContext): readonly Offering[] {
  const suits = suitsNodeClass(machine, settings);
  return places.map(({ zone, capacityType, requirements }) => {
    const price = capacityType === "spot" ? prices.spot(machine, zone.name) : prices.onDemand(machine);
    return { requirements, price: price ?? 0, available: suits && price !== undefined && zones.includes(zone) };
  });
}

/** Whether a machine can be what the node class says; else none of its offerings is available. (04 §2.5) */
export function suitsNodeClass(machine: Machine, settings: NodeSettings): boolean {
  if (settings.amiFamily === "AL2023" && machine.familyName === "a1") return false;
  if (settings.tracksConnections && (machine.isMetal || machine.family.hv !== "nitro")) return false;
  return suitsNetworkInterfaces(machine, settings);
}

/** The catalogue knows the default card's interfaces, and how many cards there are. (04 §2.5) */
function suitsNetworkInterfaces(machine: Machine, { networkInterfaces }: NodeSettings): boolean {
  const efaOnly = networkInterfaces.filter(({ interfaceType }) => interfaceType === "efa-only");
  return (
    efaOnly.length <= machine.efas &&
    networkInterfaces.every(
      ({ networkCardIndex, deviceIndex }) =>
        networkCardIndex < machine.networkCards && (networkCardIndex > 0 || deviceIndex < machine.enis),
    )
  );
}
