import type { Problem } from "../../api/problem.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { buildInstanceTypes } from "./build-instance-types.ts";
import { familyRows } from "./families-data.ts";
import { type Ec2InstanceTypeInfo, type EmbeddedInstanceTypeInfo, ec2InstanceTypeInfos } from "./instance-type-info.ts";
import { defaultNodeSettings, type NodeSettings } from "./node-settings.ts";
import { embeddedPrices, type Prices } from "./prices.ts";
import { assumedRegion, defaultRegion, findRegion, knownRegions, type Region, type Zone } from "./regions.ts";

/** All options have defaults. */
export interface Ec2CatalogueOptions extends Partial<NodeSettings> {
  readonly region?: string;
  /** Zones nodes can be in, by name; by default all of the region. */
  readonly zones?: readonly string[];
  /** Zones that were seen in use: they let a region be planned for that is not in the embedded data. */
  readonly seenZones?: readonly string[];
  /** A price for a type that has no embedded one, and could not be had without. */
  readonly unlistedPrice?: (type: string, capacityType: "on-demand" | "spot") => number | undefined;
  /** Which families to include; by default all. */
  readonly family?: (name: string) => boolean;
  /** Include types EC2 no longer offers, as if it did: for plans of old manifests. */
  readonly includeRetired?: boolean;
  /** Live prices; the embedded ones by default. */
  readonly prices?: Prices;
}

export type Ec2CatalogueResult = { readonly types: readonly InstanceType[] } | { readonly problem: Problem };

/** The EC2 instance types of a region for the settings of a node class, also those not available there. (04 §2) */
export function ec2InstanceTypes(options: Ec2CatalogueOptions = {}): Ec2CatalogueResult {
  const found = ec2Region(options);
  if ("problem" in found) return found;
  const { region } = found;
  const problem = unknownZone(options.zones ?? [], region);
  if (problem !== undefined) return { problem };

  const { family = () => true, includeRetired = false } = options;
  const wanted = ec2InstanceTypeInfos().filter((one) => family(one.familyName) && (includeRetired || !one.isRetired));
  const usable = region.zones.filter(({ name }) => options.zones?.includes(name) ?? true);
  return {
    types: buildInstanceTypes(wanted, {
      region: region.name,
      zones: region.zones,
      usableZones: usable,
      isOffered: embeddedOffers(wanted, region),
      settings: { ...defaultNodeSettings, ...options },
      prices: options.prices ?? embeddedPrices(region, options.unlistedPrice),
    }),
  };
}

/** A region without data of its own is assumed to be like us-east-1; its prices are marked as estimates. */
export function ec2Region({ region = defaultRegion, seenZones }: Ec2CatalogueOptions): ReturnType<typeof findRegion> {
  return seenZones === undefined || knownRegions.includes(region)
    ? findRegion(region)
    : assumedRegion(region, seenZones);
}

/** Whether the type is in the catalogue but no longer offered by EC2. */
export function isRetired(instanceType: string): boolean {
  const [family = ""] = instanceType.split(".");
  return Object.hasOwn(familyRows, family) && familyRows[family]?.retired === true;
}

/** Retired types have no zones left; where they are included, they are offered in all. */
function embeddedOffers(
  typeInfos: readonly EmbeddedInstanceTypeInfo[],
  { column, zones, isAssumed = false }: Region,
): (typeInfo: Ec2InstanceTypeInfo, zone: Zone) => boolean {
  const digitOf = new Map<Zone, string>(zones.map((zone) => [zone, zone.digit]));
  const known = new Map<Ec2InstanceTypeInfo, EmbeddedInstanceTypeInfo>(typeInfos.map((one) => [one, one]));
  return (typeInfo, zone) => {
    const embedded = known.get(typeInfo);
    if (embedded === undefined) return false;
    if (isAssumed) return embedded.zoneDigits[column] !== "";
    return embedded.isRetired || embedded.zoneDigits[column].includes(digitOf.get(zone) ?? "none");
  };
}

function unknownZone(zones: readonly string[], region: Region): Problem | undefined {
  const names = region.zones.map(({ name }) => name);
  const index = zones.findIndex((zone) => !names.includes(zone));
  if (index < 0) return undefined;
  return {
    code: "unknown-value",
    path: ["zones", index],
    message: `region ${region.name} has no zone ${JSON.stringify(zones[index])}`,
    expected: names.join(", "),
  };
}
