import { parseArgs } from "node:util";
import type { Pod } from "../src/api/kubernetes/pod.ts";
import type { KubeObject } from "../src/api/object.ts";
import { defaultSettings } from "../src/controllers/settings.ts";
import { builtInTypes } from "../src/kube/resources.ts";
import type { MsRange } from "../src/providers/sim/simulation-settings.ts";
import { withPodRate } from "../test/world/pod-rate.ts";
import { type LogLine, recordingLog } from "../test/world/recording-log.ts";
import { testWorld } from "../test/world/test-world.ts";
import { areAllRunning, createObjects, nodesAndPrice, runningPods } from "./cluster-figures.ts";
import { below, show, told } from "./figures.ts";
import { kwokPhases } from "./kwok-phases.ts";
import { mixedObjects, requestsBound } from "./mixed-pods.ts";

/** How pods arrive and machines boot. */
interface TrickleOptions {
  readonly phase: string;
  /** kube-controller-manager creates twenty a second. */
  readonly podsPerSecond: number;
  readonly bootMs: MsRange;
  readonly seed: string;
  readonly nominatePods: boolean;
  readonly expectsPods: boolean;
  /** Whether consolidation runs meanwhile. */
  readonly consolidates: boolean;
  /** The longest a batch window lasts. */
  readonly batchMaxMs: number;
}

const patienceMs = 900_000;

/** A workload that trickles in, on the virtual clock: what the cluster ends at, over the resource bound. */
async function trickle(options: TrickleOptions) {
  const { phase, podsPerSecond, bootMs, seed, nominatePods, expectsPods, consolidates, batchMaxMs } = options;
  const world = await testWorld({ seed, simulation: { bootMs } });
  const { client, clock } = world;
  const lines: LogLine[] = [];
  world.startCluster({ wrapClient: (own) => withPodRate(own, { clock, podsPerSecond }) });
  const gates = { ...defaultSettings.gates, ExpectedPods: expectsPods };
  const settings = { ...defaultSettings, nominatePods, batchMaxMs, gates };
  world.startOperator("bench", { log: recordingLog(lines), settings });
  await clock.advance(5_000);
  const startedAt = clock.now();
  const deployments = kwokPhases[phase] ?? [];
  const count = deployments.reduce((sum, { spec }) => sum + (spec as { replicas: number }).replicas, 0);
  const classAndPool = (mixedObjects as readonly KubeObject[]).slice(0, 2);
  await createObjects(client, consolidates ? classAndPool : classAndPool.map(withoutDisruption));
  await createObjects(client, deployments);
  while (!(await areAllRunning(client, count))) {
    await clock.advance(1_000);
    if (clock.now() - startedAt > patienceMs) throw new Error(`${await runningPods(client)} of ${count} pods run`);
  }
  const seconds = (clock.now() - startedAt) / 1_000;
  const { nodes, price } = await nodesAndPrice(client);
  const { items: pods } = await client.list<KubeObject & Pod>(builtInTypes.Pod);
  const rounds = lines
    .filter(({ message }) => message.startsWith("computed new nodeclaim"))
    .map(({ nodeclaims, pods: placed }) => `${nodeclaims} for ${placed}`);
  await world.stop();
  const overBound = price / requestsBound(pods);
  return { pods: pods.length, seconds, nodes, price, overBound, rounds: rounds.join(", ") };
}

/** What scaling out costs is measured before any pod is moved. */
function withoutDisruption(object: KubeObject): KubeObject {
  if (object.kind !== "NodePool") return object;
  const disruption = { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" };
  return { ...object, spec: { ...(object.spec as object), disruption } };
}

/** What upstream ends at with these workloads on a real control plane whose nodes boot at once; ours must not be dearer. */
const bars: Readonly<Record<string, { readonly overBound: number; readonly nodes?: number }>> = {
  basic: { overBound: 1.05, nodes: 141 },
  "suite-wide": { overBound: 1.32 },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rate: { type: "string", default: "20" },
    boot: { type: "string", default: "8000-15000" },
    seed: { type: "string", default: "bench" },
    "no-nominations": { type: "boolean", default: false },
    "no-expected-pods": { type: "boolean", default: false },
    consolidate: { type: "boolean", default: false },
    "batch-max": { type: "string", default: String(defaultSettings.batchMaxMs) },
  },
});
const [leastMs = 0, mostMs = leastMs] = values.boot.split("-").map(Number);
for (const phase of positionals.length > 0 ? positionals : Object.keys(bars)) {
  const figures = await trickle({
    phase,
    podsPerSecond: Number(values.rate),
    bootMs: [leastMs, mostMs],
    seed: values.seed,
    nominatePods: !values["no-nominations"],
    expectsPods: !values["no-expected-pods"],
    consolidates: values.consolidate,
    batchMaxMs: Number(values["batch-max"]),
  });
  const { overBound = Number.POSITIVE_INFINITY, nodes } = bars[phase] ?? {};
  show(`${phase}: ${figures.pods} pods, ${values.rate} a second, machines that boot in ${values.boot} ms`, [
    told("simulated time until all run", `${figures.seconds.toFixed(0)} s`),
    told("nodes planned for pods, by round", figures.rounds),
    nodes === undefined
      ? told("nodes", String(figures.nodes))
      : below("nodes", figures.nodes, { bar: nodes, unit: "" }),
    told("price", `$${figures.price.toFixed(2)}/h`),
    below("price over the resource bound", figures.overBound, { bar: overBound, unit: "times" }),
  ]);
}
