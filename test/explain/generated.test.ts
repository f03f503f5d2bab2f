import { describe, expect, it } from "vitest";
import { Random } from "../../src/util/random.ts";
import { isLongTier } from "../runs.ts";
import { tryCase } from "./cause-trial.ts";
import { causeMakers, generatedCase } from "./generated-causes.ts";
import { virtualCluster } from "./virtual-cluster.ts";

const count = Number(process.env["CASES"] ?? (isLongTier ? 1_000 : 5));
const first = Number(process.env["FIRST_CASE"] ?? "0");
/** Only causes whose names have this in them. */
const only = process.env["CAUSE"] ?? "";

describe("unplaceable pods of every cause", () => {
  it(
    "run after every suggestion, applied as it is printed",
    async () => {
      const failures: string[] = [];
      let suggestions = 0;
      let without = 0;
      const causes = Object.keys(causeMakers).filter((one) => one.includes(only));
      for (let index = first; index < first + count; index++) {
        // Tier 1 takes a few of the causes, the long tier all of them many times.
        const cause = causes[(isLongTier ? index : index * 7) % causes.length];
        const one = generatedCase(new Random(`case ${index}`), cause);
        const tried = await tryCase(one, () => virtualCluster(`case ${index}`)).catch((error: unknown) => ({
          suggestions: 0,
          failures: [`case ${index}: ${cause} (${one.workload.kind}): ${String(error)}`],
        }));
        suggestions += tried.suggestions;
        if (tried.suggestions === 0) without++;
        failures.push(...tried.failures);
      }
      if (isLongTier) console.info(JSON.stringify({ cases: count, suggestions, without, failed: failures.length }));
      expect(failures).toEqual([]);
      expect(suggestions).toBeGreaterThan(count);
    },
    isLongTier ? 1_800_000 : 60_000,
  );
});
