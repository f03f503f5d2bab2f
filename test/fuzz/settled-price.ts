import type { KubeObject } from "../../src/api/object.ts";
import { defaultSettings } from "../../src/controllers/settings.ts";
import type { DisruptionMode } from "../../src/core/disruption/snapshot.ts";
import { builtInTypes, karpenterTypes } from "../../src/kube/resources.ts";
import { Random } from "../../src/util/random.ts";
import { type TestWorld, testWorld } from "../world/test-world.ts";
import { chance, namespace, nodeClass, pool, workload } from "./objects.ts";
import { fuzzInstanceTypes } from "./process-cloud.ts";

/** What a cluster costs once disruption has nothing left to do. */
export interface SettledCluster {
  /** Dollars an hour before nodes could go, and after. */
  readonly before: number;
  readonly after: number;
  readonly nodes: number;
  readonly pending: number;
}

export interface SettledPrices {
  readonly seed: number;
  readonly ours: SettledCluster;
  readonly upstream: SettledCluster;
}

/** More than this over upstream's price fails a seed. */
export const mostOverUpstream = 1.03;

const apps = ["web", "api", "batch", "cache"];
const stopped = { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "0s", budgets: [{ nodes: "0" }] };
const eager = { ...stopped, budgets: [{ nodes: "100%" }] };
const scaleOutSeconds = 180;
const scaleDownSeconds = 90;
/** As long as it takes one command after another to go through all nodes. */
const settleSeconds = 40 * 60;

/** The same cluster of the seed in both modes: alike until nodes may go, then each settles in its own way. */
export async function settledPrices(seed: number): Promise<SettledPrices> {
  return { seed, ours: await settle(seed, "default"), upstream: await settle(seed, "upstream") };
}

async function settle(seed: number, disruptionMode: DisruptionMode): Promise<SettledCluster> {
  const random = new Random(`settled-${seed}`);
  const kwokTypes = fuzzInstanceTypes();
  const world = await testWorld({ seed: `settled-${seed}`, provider: { kwokTypes } });
  world.startCluster();
  world.startOperator("operator", { settings: { ...defaultSettings, disruptionMode } });
  const pools = ["a", "b"].slice(0, 1 + random.int(2)).map((name) => unlimited(pool(name, random.fork(name))));
  const deployments = apps
    .slice(0, 2 + random.int(3))
    .map((app) => withReplicas(workload("Deployment", app, random.fork(app)), 4 + random.int(12)));
  await world.create(nodeClass, ...pools, ...deployments);
  await world.pass(scaleOutSeconds);
  for (const { metadata } of deployments) {
    if (chance(random, 0.2)) continue;
    const body = { spec: { replicas: random.int(8) } };
    await world.client.patch(
      builtInTypes.Deployment,
      { name: metadata.name ?? "", namespace },
      { kind: "merge", body },
    );
  }
  await world.pass(scaleDownSeconds);
  const before = priceOf(world);
  for (const { metadata } of pools) {
    const body = { spec: { disruption: eager } };
    await world.client.patch(karpenterTypes.NodePool, { name: metadata.name ?? "" }, { kind: "merge", body });
  }
  await world.pass(settleSeconds);
  const pods = await world.list<KubeObject & { readonly spec: { readonly nodeName?: string } }>(builtInTypes.Pod);
  const pending = pods.filter(({ spec }) => spec.nodeName === undefined).length;
  const settled = { before, after: priceOf(world), nodes: world.cloud.records().length, pending };
  await world.stop();
  return settled;
}

function priceOf({ cloud }: TestWorld): number {
  return cloud.records().reduce((sum, { price = 0 }) => sum + price, 0);
}

/** Without limits, so that all pods run, and nothing goes yet. */
function unlimited({ spec, ...object }: KubeObject): KubeObject {
  const { limits: _limits, ...rest } = spec as { readonly limits?: unknown };
  return { ...object, spec: { ...rest, disruption: stopped } };
}

function withReplicas({ spec, ...object }: KubeObject, replicas: number): KubeObject {
  return { ...object, spec: { ...(spec as object), replicas } };
}

/** How the prices of many seeds compare, as lines, and which of them are too high. */
export function compareSettled(all: readonly SettledPrices[]): {
  readonly lines: readonly string[];
  readonly failures: readonly string[];
} {
  const sum = (of: (one: SettledPrices) => number): number => all.reduce((total, one) => total + of(one), 0);
  const [before, ours, upstream] = [
    sum((one) => one.ours.before),
    sum((one) => one.ours.after),
    sum((one) => one.upstream.after),
  ];
  const dearer = all.filter((one) => one.ours.after > mostOverUpstream * one.upstream.after + 1e-9);
  const worst = all.reduce((most, one) => Math.max(most, ratioOf(one)), 0);
  const cheaper = all.filter((one) => one.ours.after < one.upstream.after - 1e-9).length;
  const lines = [
    `${all.length} clusters, dollars an hour: ${before.toFixed(2)} before, ${ours.toFixed(2)} settled, ${upstream.toFixed(2)} in mode upstream`,
    `cheaper than upstream on ${cheaper}, dearer on ${all.filter((one) => ratioOf(one) > 1 + 1e-9).length}, at most by ${((worst - 1) * 100).toFixed(1)} %`,
  ];
  const failures = [
    ...dearer.map((one) => `seed ${one.seed}: ${one.ours.after} instead of ${one.upstream.after}`),
    ...all.filter((one) => one.ours.pending > one.upstream.pending).map(({ seed }) => `seed ${seed}: more pods wait`),
    ...(ours > upstream + 1e-9 ? [`in total ${ours} instead of ${upstream}`] : []),
  ];
  return { lines, failures };
}

function ratioOf({ ours, upstream }: SettledPrices): number {
  return upstream.after === 0 ? 1 : ours.after / upstream.after;
}
