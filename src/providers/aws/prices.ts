import type { Machine } from "./families.ts";
import type { Region } from "./regions.ts";

/** What machines cost, in dollars an hour; undefined where nobody knows. (04 §2.6) */
export interface Prices {
  onDemand(machine: Machine): number | undefined;
  spot(machine: Machine, zone: string): number | undefined;
}

/** For families whose spot price nobody recorded: the median over those where somebody did, in either region. */
export const defaultSpotFraction = 0.38;

/**
 * The prices that come with the program. On demand, us-west-2 costs what us-east-1 does; spot is the family's median
 * fraction of that, the same in every zone. (04 §8)
 */
export function embeddedPrices(region: Region): Prices {
  return {
    onDemand: (machine) => machine.usdPerHour,
    spot: ({ family, usdPerHour }) =>
      usdPerHour === undefined ? undefined : usdPerHour * (family.spot?.[region.column] ?? defaultSpotFraction),
  };
}
