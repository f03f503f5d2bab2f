/** How many cases a property test runs: all of them in the long tier, a hundredth (at least 20) in tier 1. */
export function runs(full: number): number {
  return process.env["LONG"] === "1" ? full : Math.max(20, Math.ceil(full / 100));
}
