import { describe, expect, it } from "vitest";
import { drawStory } from "./draw.ts";
import { runStory } from "./run-story.ts";

describe("the whole cluster in a bad world", () => {
  it.each([3, 4, 5])("05:CP-T4 seed %i comes to rest with nothing lost, leaked or broken", async (seed) => {
    const { complaints } = await runStory(drawStory(seed));
    expect(complaints).toEqual([]);
  });

  it("05:CP-T3 the same seed gives the same log, byte for byte", async () => {
    const [one, two] = [await runStory(drawStory(6)), await runStory(drawStory(6))];
    expect(one.fingerprint).toBe(two.fingerprint);
    expect(one.writes).toBeGreaterThan(100);
  });
});
