import { storages } from "../world/stored-objects.ts";
import { activityAtRest } from "./activity-at-rest.ts";
import { nodeClass } from "./objects.ts";
import { perform } from "./perform-action.ts";
import { type ClusterAtRest, pendingThatFit, problemsAtRest } from "./problems-at-rest.ts";
import type { Story } from "./story.ts";
import { type FuzzWorld, foreignClaim, fuzzWorld } from "./world.ts";

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
  readonly operatorsStarted: number;
  readonly instances: number;
  /** Nodes that were taken of free will, by reason. */
  readonly disrupted: Readonly<Record<string, number>>;
  /** Dollars an hour of what is left. */
  readonly price: number;
}

/** After the last fault: longer than any back-off, and than an offering counts as unavailable. */
const recoveryMs = 10 * 60_000;
/** A pod that waits for so long, and fits, was forgotten. */
const placedMs = 60_000;
/** How long the cluster has to come to rest, once the story is over and nothing goes wrong any more. */
const settleMs = 75 * 60_000;
/** The end of it, in which nothing should happen. */
const restMs = 15 * 60_000;

/** Runs a story to its end and checks the cluster it leaves. Never throws: an error is a complaint. */
export async function runStory(story: Story): Promise<Outcome & { readonly world: FuzzWorld }> {
  const world = await fuzzWorld(story);
  const rejected = (error: unknown) => world.complain(`unhandled rejection: ${errorText(error)}`);
  process.on("unhandledRejection", rejected);
  try {
    await performStory(story, world);
  } catch (error) {
    world.complain(`the run broke: ${errorText(error)}`);
  } finally {
    process.off("unhandledRejection", rejected);
  }
  const { record, cloud, complaints, faults, operators, clock, startedAt, disruption } = world;
  return {
    world,
    seed: story.seed,
    complaints,
    fingerprint: record.fingerprint(),
    hours: (clock.now() - startedAt) / 3_600_000,
    writes: record.writes,
    cloudCalls: record.cloudCalls,
    faults: Object.fromEntries([...faults].sort(([a], [b]) => (a < b ? -1 : 1))),
    operatorsStarted: operators.started,
    instances: cloud.records().length,
    disrupted: Object.fromEntries(disruption.marked),
    price: cloud.records().reduce((sum, { key, price = 0 }) => sum + (cloud.supply.priceOf(key) ?? price), 0),
  };
}

async function performStory(story: Story, world: FuzzWorld): Promise<void> {
  const { clock, context, record } = world;
  await clock.advance(1_000);
  for (const { action, passMs } of story.events) {
    record.recordNote(`act ${JSON.stringify(action)}`);
    await perform(action, context);
    await clock.advance(passMs);
  }
  await endFaults(world);
  await clock.advance(recoveryMs);
  await performEpilogue(story, world);
  await clock.advance(settleMs - restMs);
  const before = { at: clock.now(), writes: world.checks.writes };
  await clock.advance(restMs);
  await judge(world, problemsAtRest(judgedCluster(story, world)));
  for (const fault of activityAtRest(world, before)) world.complain(fault);
  if (record.get(storages.claims, foreignClaim) === undefined) world.complain("the foreign NodeClaim is gone");
  await world.close();
}

/** Nothing goes wrong any more, and everything that is owed happens in seconds. */
async function performEpilogue({ epilogue, ...story }: Story, world: FuzzWorld): Promise<void> {
  const { clock, context, record, progress } = world;
  progress.judgeFromNow();
  for (const { action, passMs } of epilogue) {
    record.recordNote(`act ${JSON.stringify(action)}`);
    await perform(action, context);
    await clock.advance(passMs);
  }
  await clock.advance(2 * placedMs);
  await judge(world, pendingThatFit(judgedCluster(story, world), placedMs));
}

function judgedCluster({ gates }: Pick<Story, "gates">, { record, cloud, provider, clock }: FuzzWorld): ClusterAtRest {
  return { record, cloud, provider, gates, now: clock.now() };
}

/** The judge asks the cloud, which takes a moment. */
async function judge({ clock, complain }: FuzzWorld, judging: Promise<readonly string[]>): Promise<void> {
  await clock.advance(1_000);
  for (const fault of await judging) complain(fault);
}

/** From here on the network, the cloud and all instances work. */
async function endFaults({ context, cloud, operators }: FuzzWorld): Promise<void> {
  operators.stopFaults();
  cloud.setFaultRates({});
  for (const pattern of context.shortages) cloud.setAvailableCount(pattern, Number.POSITIVE_INFINITY);
  for (const { instance } of cloud.records()) {
    if (instance.kubelet !== "healthy") cloud.setKubelet(instance.id, "healthy");
  }
  await perform({ kind: "apply", object: nodeClass }, context);
}

function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
