import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isLongTier } from "../runs.ts";
import { deliberateDifferences } from "./deliberate.ts";
import { planProblem } from "./ours.ts";
import { randomProblem } from "./random-problem.ts";
import { shrink } from "./shrink.ts";

const seeds = Array.from({ length: isLongTier ? 40 : 10 }, (_, index) => index + 1);

describe("the differential run", () => {
  it("makes the same problem from the same seed, and others from others", () => {
    expect(seeds.map(randomProblem)).toEqual(seeds.map(randomProblem));
    expect(new Set(seeds.map((seed) => JSON.stringify(randomProblem(seed).objects))).size).toBe(seeds.length);
  });

  it("makes problems that plan accepts", async () => {
    const answers = await Promise.all(seeds.map((seed) => planProblem(randomProblem(seed))));
    expect(answers.filter(({ kind }) => kind === "refused")).toEqual([]);
  });

  it("shrinks a problem to what it takes", async () => {
    const problem = seeds.map(randomProblem).find(({ objects }) => objects.some(({ kind }) => kind === "Deployment"));
    if (problem === undefined) throw new Error("no seed has a Deployment");
    const small = await shrink(
      problem,
      async ({ objects }) => objects.some(({ kind }) => kind === "Deployment"),
      2_000,
    );
    expect(small.objects.map(({ kind }) => kind)).toEqual(["Deployment"]);
    expect(small.objects[0]).not.toHaveProperty("spec");
  });

  it("lists only deliberate differences that docs/designs/differences.md has", () => {
    const text = readFileSync(join(import.meta.dirname, "../../docs/designs/differences.md"), "utf8");
    for (const { row } of deliberateDifferences) expect(text).toContain(`| ${row} |`);
  });
});
