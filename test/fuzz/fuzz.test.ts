import { describe, expect, it } from "vitest";
import { isLongTier } from "../runs.ts";
import { drawStory } from "./draw.ts";
import { runStory } from "./run-story.ts";
import { compareSettled, type SettledPrices, settledPrices } from "./settled-price.ts";

describe("the whole cluster in a bad world", () => {
  const seed = 5;
  let first: ReturnType<typeof runStory> | undefined;
  const firstRun = () => {
    first ??= runStory(drawStory(seed));
    return first;
  };

  it(`05:CP-T4 seed ${seed} comes to rest with nothing lost, leaked or broken`, async () => {
    const { complaints } = await firstRun();
    expect(complaints).toEqual([]);
  });

  const settled = async (seeds: readonly number[]): Promise<readonly string[]> => {
    const all: SettledPrices[] = [];
    for (const seed of seeds) all.push(await settledPrices(seed));
    return compareSettled(all).failures;
  };
  const upTo40 = Array.from({ length: 40 }, (_, at) => at + 1);

  it("03:D-45 03:D-48 a cluster settles at no more than three percent over what it costs in mode upstream", async () => {
    expect(await settled(isLongTier ? upTo40 : [39])).toEqual([]);
  });

  it("03 §10.2-6 also where one command after the other leads to the cheaper cluster", async () => {
    expect(await settled([764])).toEqual([]);
  });

  it("05:CP-T3 the same seed gives the same log, byte for byte", async () => {
    const [one, two] = [await firstRun(), await runStory(drawStory(seed))];
    expect(one.fingerprint).toBe(two.fingerprint);
    expect(one.writes).toBeGreaterThan(100);
  });
});
