import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { Region } from "./regions.ts";

/** Prices in dollars an hour; undefined if unknown. (04 §2.6) */
export interface Prices {
  onDemand(typeInfo: Ec2InstanceTypeInfo): number | undefined;
  spot(typeInfo: Ec2InstanceTypeInfo, zone: string): number | undefined;
}

/** For families without a recorded spot price: the median over the others. */
export const defaultSpotFraction = 0.38;

/**
 * The embedded prices. On demand, us-west-2 costs the same as us-east-1; spot is the family's median
 * fraction of that, the same in every zone. (04 §8)
 */
export function embeddedPrices(region: Region): Prices {
  return {
    onDemand: (typeInfo) => typeInfo.usdPerHour,
    spot: ({ spotFractions, usdPerHour }) =>
      usdPerHour === undefined ? undefined : usdPerHour * (spotFractions?.[region.column] ?? defaultSpotFraction),
  };
}
