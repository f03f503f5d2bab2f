/** Whether this is the long tier. */
export const isLongTier = process.env["LONG"] === "1";

/** How many cases a property test runs: all of them in the long tier, a hundredth (at least 20) in tier 1. */
export function runs(full: number): number {
  return isLongTier ? full : Math.max(20, Math.ceil(full / 100));
}
