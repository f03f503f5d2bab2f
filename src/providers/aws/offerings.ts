import { awsZoneId, labels } from "../../api/labels.ts";
import type { Offering } from "../../core/instance-type.ts";
import { Requirements } from "../../core/requirements.ts";
import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { Prices } from "./prices.ts";
import type { Zone } from "./regions.ts";
import { type RequirementInterner, reservationRequirements } from "./type-requirements.ts";

/** One zone and capacity type, shared by all instance types. */
export interface OfferingTemplate {
  readonly zone: Zone;
  readonly capacityType: "on-demand" | "spot";
  readonly requirements: Requirements;
}

/** Every zone of the region, on-demand and spot; the zone id is set only for zones nodes can be in. (04 §2.5) */
export function offeringTemplates(
  zones: readonly Zone[],
  { usable, interner }: { readonly usable: ReadonlySet<Zone>; readonly interner: RequirementInterner },
): readonly OfferingTemplate[] {
  return zones.flatMap((zone) =>
    (["on-demand", "spot"] as const).map((capacityType) => ({
      zone,
      capacityType,
      requirements: Requirements.of(
        interner.in(labels.capacityType, [capacityType]),
        interner.in(labels.zone, [zone.name]),
        ...(usable.has(zone) && zone.id !== undefined ? [interner.in(awsZoneId, [zone.id])] : []),
        ...reservationRequirements(interner),
      ),
    })),
  );
}

export interface OfferingContext {
  readonly templates: readonly OfferingTemplate[];
  /** Zones the type is offered in and nodes can be in. */
  readonly zones: readonly Zone[];
  /** Whether the type works with the node class; if not, none of its offerings is available. */
  readonly isCompatible: boolean;
  readonly prices: Prices;
  /** Offerings that are avoided for now. */
  readonly isAvoided?: ((template: OfferingTemplate) => boolean) | undefined;
}

/** One offering per zone and capacity type; unavailable without a price or where the type is not offered. (04 §2.5) */
export function ec2Offerings(
  typeInfo: Ec2InstanceTypeInfo,
  { templates, zones, isCompatible, prices, isAvoided }: OfferingContext,
): readonly Offering[] {
  return templates
    .filter(({ capacityType }) => typeInfo.usageClasses.includes(capacityType))
    .map((template) => {
      const { zone, capacityType, requirements } = template;
      const price = capacityType === "spot" ? prices.spot(typeInfo, zone.name) : prices.onDemand(typeInfo);
      const available =
        isCompatible && price !== undefined && zones.includes(zone) && !(isAvoided?.(template) ?? false);
      const priceSource = prices.sourceOf?.(typeInfo, capacityType);
      return { requirements, price: price ?? 0, available, ...(priceSource !== undefined && { priceSource }) };
    });
}
