import { perform } from "./act.ts";
import { storages } from "./guard.ts";
import { faultsAtRest } from "./judge.ts";
import { nodeClass } from "./objects.ts";
import { restless } from "./rest.ts";
import type { Story } from "./story.ts";
import { foreignClaim, openWorld, type World } from "./world.ts";

/** What came of a run. */
export interface Outcome {
  readonly seed: number;
  /** What must never be, was; empty for a good run. */
  readonly complaints: readonly string[];
  /** Of all writes and cloud calls. */
  readonly fingerprint: string;
  readonly hours: number;
  readonly writes: number;
  readonly cloudCalls: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly lives: number;
  readonly machines: number;
}

/** Everything people did is over, and nothing goes wrong any more: so long the world has to come to rest. */
const settleMs = 75 * 60_000;
/** The end of it, in which nothing should happen. */
const restMs = 15 * 60_000;

/** Runs a story to its end, and judges the world it leaves. Never throws: a story that breaks is a complaint. */
export async function runStory(story: Story): Promise<Outcome & { readonly world: World }> {
  const world = await openWorld(story);
  const rejected = (error: unknown) => world.complain(`unhandled rejection: ${described(error)}`);
  process.on("unhandledRejection", rejected);
  try {
    await play(story, world);
  } catch (error) {
    world.complain(`the run broke: ${described(error)}`);
  } finally {
    process.off("unhandledRejection", rejected);
  }
  const { truth, cloud, complaints, faults, operators, clock, startedAt } = world;
  return {
    world,
    seed: story.seed,
    complaints,
    fingerprint: truth.fingerprint(),
    hours: (clock.now() - startedAt) / 3_600_000,
    writes: truth.writes,
    cloudCalls: truth.cloudCalls,
    faults: Object.fromEntries([...faults].sort(([a], [b]) => (a < b ? -1 : 1))),
    lives: operators.started,
    machines: cloud.records().length,
  };
}

async function play(story: Story, world: World): Promise<void> {
  const { clock, stage, truth } = world;
  await clock.advance(1_000);
  for (const { act, passMs } of story.events) {
    truth.note(`act ${JSON.stringify(act)}`);
    await perform(act, stage);
    await clock.advance(passMs);
  }
  await calmDown(world);
  await clock.advance(settleMs - restMs);
  const before = { at: clock.now(), writes: world.guard.writes };
  await clock.advance(restMs);
  const verdict = { truth, cloud: world.cloud, provider: world.provider, gates: story.gates, now: clock.now() };
  const judged = faultsAtRest(verdict);
  await clock.advance(1_000); // the judge asks the cloud
  for (const fault of await judged) world.complain(fault);
  for (const fault of restless(world, before)) world.complain(fault);
  if (truth.get(storages.claims, foreignClaim) === undefined) world.complain("the foreign NodeClaim is gone");
  await world.close();
}

/** From here on the network, the cloud and the machines are well. */
async function calmDown({ stage, cloud, operators }: World): Promise<void> {
  operators.calmDown();
  cloud.setFaultRates({});
  for (const pattern of stage.shortages) cloud.setAvailableCount(pattern, Number.POSITIVE_INFINITY);
  for (const { instance } of cloud.records()) {
    if (instance.kubelet !== "healthy") cloud.setKubelet(instance.id, "healthy");
  }
  await perform({ kind: "apply", object: nodeClass }, stage);
}

function described(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
