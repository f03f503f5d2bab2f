import { afterEach, describe, expect, it } from "vitest";
import { type AwsStory, awsStory, wholeAwsStory } from "./aws-story.ts";
import { isDeadlyCall } from "./killable.ts";

let world: AwsStory | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

/** Runs the whole story with a controller that dies, and is started again, at the calls the test chooses. */
async function storyWithDeaths(diesAt: (call: string, count: number) => boolean) {
  world = await awsStory();
  const opened = world;
  const calls: string[] = [];
  const restarts: Promise<void>[] = [];
  opened.listenToCalls((call) => {
    if (!isDeadlyCall(call)) return;
    calls.push(call);
    if (!diesAt(call, calls.length) || !opened.kill()) return;
    restarts.push(opened.start());
  });
  await wholeAwsStory(opened);
  await Promise.all(restarts);
  opened.listenToCalls(undefined);
  return { calls, starts: opened.starts() };
}

const isLong = process.env["LONG"] === "1";
/** Every seventh write, from the first on; `DEATHS=2/7` takes those between, `DEATHS=1/1` all three hundred. */
const [from = 1, step = 7] = (process.env["DEATHS"] ?? "").split("/").filter(Boolean).map(Number);
const deathsInLongRuns = { from, step };

describe("the story of an account in memory", () => {
  it("04 §7.3 ends the same with a controller that dies at every kind of write, to Kubernetes and to AWS", async () => {
    const seen = new Set<string>();
    const { starts } = await storyWithDeaths((call) => {
      const isNew = !seen.has(call);
      seen.add(call);
      return isNew;
    });
    expect(starts).toBeGreaterThan(20);
    expect([...seen]).toEqual(
      expect.arrayContaining(["create NodeClaim", "patch NodeClaim/status", "patch Node", "delete NodeClaim"]),
    );
  });

  it.runIf(isLong)("04 §7.3 ends the same wherever the controller dies once", async () => {
    const { from, step } = deathsInLongRuns;
    let at = from;
    for (; ; at += step) {
      const { starts } = await storyWithDeaths((_, count) => count === at);
      await world?.stop();
      world = undefined;
      if (starts === 1) break; // the story has fewer writes
    }
    expect(at).toBeGreaterThan(200);
  });
});
