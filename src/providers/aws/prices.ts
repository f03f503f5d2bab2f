import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { Region } from "./regions.ts";

/** What machines cost, in dollars an hour; undefined where nobody knows. (04 §2.6) */
export interface Prices {
  onDemand(typeInfo: Ec2InstanceTypeInfo): number | undefined;
  spot(typeInfo: Ec2InstanceTypeInfo, zone: string): number | undefined;
}

/** For families whose spot price nobody recorded: the median over those where somebody did, in either region. */
export const defaultSpotFraction = 0.38;

/**
 * The prices that come with the program. On demand, us-west-2 costs what us-east-1 does; spot is the family's median
 * fraction of that, the same in every zone. (04 §8)
 */
export function embeddedPrices(region: Region): Prices {
  return {
    onDemand: (typeInfo) => typeInfo.usdPerHour,
    spot: ({ family, usdPerHour }) =>
      usdPerHour === undefined ? undefined : usdPerHour * (family.spot?.[region.column] ?? defaultSpotFraction),
  };
}
