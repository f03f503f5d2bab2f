import { describe, expect, it } from "vitest";
import { isLongTier } from "../runs.ts";
import { differenceFromPlans } from "./compare-inputs.ts";
import { randomInput } from "./random-input.ts";

/** `ROUNDS_SEED=17 npx vitest run --project tier1 test/rounds` plays one input again. */
const only = process.env["ROUNDS_SEED"];
const count = isLongTier ? 200 : 5;
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => String(index + 1)) : [only];

describe("a plan is what the cluster will be", () => {
  it.each(seeds)(
    "02:P-30 02:H-1 input %s ends with the nodes and refusals of the plan",
    { timeout: 120_000 },
    async (seed) => {
      const readyMs = Number(seed) % 2 === 0 ? 3_000 : 0;
      expect(await differenceFromPlans(randomInput(seed), { seed, readyMs }), `ROUNDS_SEED=${seed}`).toBeUndefined();
    },
  );
});
