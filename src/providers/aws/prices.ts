import type { PriceSource } from "../../core/price-source.ts";
import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import { knownRegions, type Region } from "./regions.ts";

/** Prices in dollars an hour; undefined if unknown. (04 §2.6) */
export interface Prices {
  onDemand(typeInfo: Ec2InstanceTypeInfo): number | undefined;
  spot(typeInfo: Ec2InstanceTypeInfo, zone: string): number | undefined;
  /** Where a price comes from, if that is shown to anybody. */
  sourceOf?(typeInfo: Ec2InstanceTypeInfo, capacityType: "on-demand" | "spot"): PriceSource;
}

type UnlistedPrice = (type: string, capacityType: "on-demand" | "spot") => number | undefined;

/** For families without a recorded spot price: the median over the others. */
export const defaultSpotFraction = 0.38;

/** The embedded prices on demand are those of this region; the day is that of upstream's table. (04 §8) */
const listRegion = "us-east-1";
const listDate = "2026-07-20";
/** When prices of us-west-2 were found to be the same, metal excepted, and the shares of spot were taken. (04 §8) */
const checkDate = "2026-08-22";

/**
 * The embedded prices. On demand, us-west-2 costs the same as us-east-1; spot is the family's median
 * fraction of that, the same in every zone. (04 §8)
 */
export function embeddedPrices(region: Region, unlistedPrice: UnlistedPrice = () => undefined): Prices {
  const onDemandSource = embeddedSources(region.name);
  const spotRegion = region.isAssumed === true ? listRegion : region.name;
  const spotShare: PriceSource = { kind: "estimate", basis: "spot-share", region: spotRegion, date: checkDate };
  return {
    onDemand: ({ name, usdPerHour }) => usdPerHour ?? unlistedPrice(name, "on-demand"),
    spot: ({ name, spotFractions, usdPerHour }) =>
      usdPerHour === undefined
        ? unlistedPrice(name, "spot")
        : usdPerHour * (spotFractions?.[region.column] ?? defaultSpotFraction),
    sourceOf: (typeInfo, capacityType) => (capacityType === "spot" ? spotShare : onDemandSource(typeInfo)),
  };
}

/** Where an embedded price on demand comes from: the list of the region, or that of another one. */
export function embeddedSources(region: string): (typeInfo: Pick<Ec2InstanceTypeInfo, "isMetal">) => PriceSource {
  const date = region === listRegion ? listDate : checkDate;
  const listed: PriceSource = { kind: "list", region, date };
  const otherRegion: PriceSource = { kind: "estimate", basis: "other-region", region: listRegion, date: listDate };
  return ({ isMetal }) => (region === listRegion || (knownRegions.includes(region) && !isMetal) ? listed : otherRegion);
}
