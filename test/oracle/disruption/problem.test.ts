import { describe, expect, it } from "vitest";
import { planDisruption } from "../../differential/ours.ts";
import { isLongTier } from "../../runs.ts";
import { randomDisruption } from "./problem.ts";

const seeds = Array.from({ length: isLongTier ? 40 : 4 }, (_, index) => index + 1);

describe("random clusters to disrupt", () => {
  it("are the same from the same seed, and others from others", () => {
    expect(seeds.map(randomDisruption)).toEqual(seeds.map(randomDisruption));
    expect(new Set(seeds.map((seed) => JSON.stringify(randomDisruption(seed).objects))).size).toBe(seeds.length);
  });

  it("are accepted by plan", async () => {
    const answers = await Promise.all(
      seeds.map((seed) => planDisruption(randomDisruption(seed), { mode: "upstream" })),
    );
    expect(answers.filter(({ kind }) => kind === "refused")).toEqual([]);
  });
});
