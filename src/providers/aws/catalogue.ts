import type { Problem } from "../../api/problem.ts";
import type { InstanceType } from "../../core/instance-type.ts";
import { ec2Capacity } from "./capacity.ts";
import { familyRows } from "./families-data.ts";
import { type Ec2InstanceTypeInfo, ec2InstanceTypeInfos } from "./instance-type-info.ts";
import { defaultNodeSettings, type NodeSettings } from "./node-settings.ts";
import { ec2Offerings, offeringTemplates } from "./offerings.ts";
import { ec2Overhead } from "./overhead.ts";
import { embeddedPrices, type Prices } from "./prices.ts";
import { defaultRegion, findRegion, type Region, type Zone } from "./regions.ts";
import { RequirementInterner, typeRequirements } from "./type-requirements.ts";

/** All options have defaults. */
export interface Ec2CatalogueOptions extends Partial<NodeSettings> {
  readonly region?: string;
  /** Zones nodes can be in, by name; by default all of the region. */
  readonly zones?: readonly string[];
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
  const known = ec2InstanceTypeInfos();
  const found = findRegion(options.region ?? defaultRegion, known);
  if ("problem" in found) return found;
  const { region } = found;
  const problem = unknownZone(options.zones ?? [], region);
  if (problem !== undefined) return { problem };

  const { family = () => true, includeRetired = false } = options;
  const wanted = known.filter((one) => family(one.familyName) && (includeRetired || one.family.retired !== true));
  return { types: buildInstanceTypes(wanted, region, options) };
}

/** Whether the type is in the catalogue but no longer offered by EC2. */
export function isRetired(instanceType: string): boolean {
  const [family = ""] = instanceType.split(".");
  return Object.hasOwn(familyRows, family) && familyRows[family]?.retired === true;
}

function buildInstanceTypes(
  wanted: readonly Ec2InstanceTypeInfo[],
  region: Region,
  options: Ec2CatalogueOptions,
): readonly InstanceType[] {
  const settings: NodeSettings = { ...defaultNodeSettings, ...options };
  const prices = options.prices ?? embeddedPrices(region);
  const interner = new RequirementInterner();
  const usable = region.zones.filter(({ name }) => options.zones?.includes(name) ?? true);
  const templates = offeringTemplates(region.zones, { usable: new Set(usable), interner });
  return wanted.map((typeInfo) => {
    const zones = usable.filter((zone) => isOffered(typeInfo, region, zone));
    const all = ec2Capacity(typeInfo, settings);
    return {
      name: typeInfo.name,
      requirements: typeRequirements(typeInfo, { region, settings, zones, interner }),
      offerings: ec2Offerings(typeInfo, { templates, zones, settings, prices }),
      capacity: all,
      overhead: ec2Overhead(typeInfo, settings, all),
    };
  });
}

/** Retired types have no zones left; where they are included, they are offered in all. */
function isOffered(typeInfo: Ec2InstanceTypeInfo, { column }: Region, { digit }: Zone): boolean {
  return typeInfo.family.retired === true || typeInfo.zoneDigits[column].includes(digit);
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
