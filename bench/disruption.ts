import { execFile } from "node:child_process";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { groups } from "../src/api/labels.ts";
import { resourceBound } from "../src/core/bound/resource-bound.ts";
import { DisruptionPass, type MethodProposal, type ProposeOptions } from "../src/core/disruption/disruption-pass.ts";
import type { DisruptionMethodName } from "../src/core/disruption/methods.ts";
import { sharedSimulator } from "../src/core/disruption/shared-simulator.ts";
import type { DisruptionSnapshot } from "../src/core/disruption/snapshot.ts";
import { podRequests, QuantityReader } from "../src/core/pod-requests.ts";
import { mergeResources, type Resources } from "../src/core/resources.ts";
import { withDisruptionConditions } from "../src/core/scenario/complete-disruption-conditions.ts";
import { completeObjects } from "../src/core/scenario/complete-objects.ts";
import { defaultSchedulingPolicy } from "../src/core/scheduling/problem.ts";
import { disruptionScenarioOf } from "../src/state/scenario.ts";
import { runSteps, type Steps } from "../src/util/steps.ts";
import { disruptionCluster } from "./disruption-cluster.ts";
import { onKwok } from "./workloads.ts";

/** `npm run bench -- disruption`: how long searches over running clusters take, each in a process of its own. */

const nodeClass = { group: groups.kwok, kind: "KWOKNodeClass" };
const nowMs = Date.parse("2026-01-15T12:00:00Z");
const mostMs = 10 * 60_000;

const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    /** Sizes as NODESxPODS, with commas between. */
    sizes: { type: "string", default: "100x10,1000x10,1000x30,5000x10,10000x10" },
    /** Used by the bench itself: the one size a process measures. */
    size: { type: "string" },
  },
});

const sweeps = ["first", "all", "several"] as const;

/** Times are of the CPU where the machine is shared: what others took is not ours. */
interface DisruptionFigures {
  readonly size: string;
  readonly snapshotMs: number;
  /** From a snapshot in a process that has never searched. */
  readonly firstCommandMs: number;
  readonly firstCommandCpuMs: number;
  /** Single nodes, each with a verdict of its own. */
  readonly sweepMs: number;
  readonly sweepCpuMs: number;
  readonly multiNodeMs: number;
  readonly longestStepMs: number;
  readonly nodesRemovable: number;
  /** Of the cluster as it is, and as the commands of one sweep leave it, over what its pods need at least. */
  readonly priceOverBound: number;
  readonly sweptOverBound: number;
  readonly rssMiB: number;
}

function snapshotOf(nodes: number, podsPerNode: number): DisruptionSnapshot {
  const { onSale } = onKwok("disruption", []);
  const { types, labelPolicy } = onSale;
  const completed = completeObjects(disruptionCluster({ nodes, podsPerNode }), {
    typesFor: () => types,
    nowMs,
    defaultNodeClass: { ...nodeClass, name: "default" },
  });
  return disruptionScenarioOf(withDisruptionConditions(completed, { typesFor: () => types, labelPolicy, nowMs }), {
    typesFor: () => types,
    served: [nodeClass],
    labelPolicy,
    policy: { ...defaultSchedulingPolicy, packing: "polished" },
    seed: 1,
    nowMs,
    nominated: [],
    allowsSpotToSpot: false,
    mode: "default",
  });
}

interface SearchFigures {
  readonly proposal: MethodProposal;
  readonly ms: number;
  readonly cpuMs: number;
}

type BenchedSweep = NonNullable<ProposeOptions["sweep"]>;

/** A search on a simulator of its own. */
function searchSteps(
  snapshot: DisruptionSnapshot,
  method: DisruptionMethodName,
  sweep: BenchedSweep,
): Steps<MethodProposal> {
  return new DisruptionPass(snapshot).propose(method, {
    simulator: sharedSimulator(snapshot, { placesOwnPodsFirst: true }),
    searchBudget: { mayContinue: () => true },
    sweep,
  });
}

function search(snapshot: DisruptionSnapshot, method: DisruptionMethodName, sweep: BenchedSweep): SearchFigures {
  const startedAt = performance.now();
  const cpuAtStart = cpuMs();
  const proposal = runSteps(searchSteps(snapshot, method, sweep));
  return { proposal, ms: performance.now() - startedAt, cpuMs: cpuMs() - cpuAtStart };
}

/** The longest step of a search. It is a search of its own, as reading the time of the CPU twice a step takes a while. */
function longestStepMs(snapshot: DisruptionSnapshot, method: DisruptionMethodName, sweep: BenchedSweep): number {
  const steps = searchSteps(snapshot, method, sweep);
  let longest = 0;
  for (;;) {
    const stepAt = performance.now();
    const cpuAt = cpuMs();
    const { done } = steps.next();
    longest = Math.max(longest, Math.min(performance.now() - stepAt, cpuMs() - cpuAt));
    if (done === true) return longest;
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What the pods of the cluster cost at least. */
function boundOf({ cluster, usablePools, labelPolicy }: DisruptionSnapshot): number {
  const reader = new QuantityReader();
  const requests = cluster.boundPods.reduce((sum: Resources, pod) => mergeResources(sum, podRequests(pod, reader)), {});
  return resourceBound(requests, usablePools, labelPolicy);
}

function measure(size: string): DisruptionFigures {
  const [nodes = 0, podsPerNode = 0] = size.split("x").map(Number);
  const startedAt = performance.now();
  const snapshot = snapshotOf(nodes, podsPerNode);
  const snapshotMs = performance.now() - startedAt;
  const single = "single-node-consolidation";
  const multi = "multi-node-consolidation";
  const first = search(snapshot, single, "first");
  const all = search(snapshot, single, "all");
  const several = search(snapshot, single, "several");
  const severalNodes = search(snapshot, multi, "first");
  const removable = all.proposal.verdicts.filter(({ code }) => code === "chosen" || code === "possible").length;
  const price = [...snapshot.pools.values()].reduce((sum, { cost }) => sum + cost, 0);
  const saved = several.proposal.commands.reduce((sum, { savings }) => sum + savings, 0);
  const bound = boundOf(snapshot);
  return {
    size,
    snapshotMs,
    firstCommandMs: first.ms,
    firstCommandCpuMs: first.cpuMs,
    sweepMs: all.ms,
    sweepCpuMs: all.cpuMs,
    multiNodeMs: severalNodes.ms,
    longestStepMs: Math.max(
      ...sweeps.map((sweep) => longestStepMs(snapshot, single, sweep)),
      longestStepMs(snapshot, multi, "first"),
    ),
    nodesRemovable: removable,
    priceOverBound: price / bound,
    sweptOverBound: (price - saved) / bound,
    rssMiB: process.resourceUsage().maxRSS / 1024,
  };
}

async function inOwnProcess(size: string): Promise<DisruptionFigures> {
  const self = fileURLToPath(import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, [self, "--size", size], { timeout: mostMs });
  return JSON.parse(stdout) as DisruptionFigures;
}

if (options.size !== undefined) {
  process.stdout.write(JSON.stringify(measure(options.size)));
} else {
  console.log(`load ${loadavg()[0]?.toFixed(1)}; times in ms, memory in MiB`);
  const rows: Record<string, string | number>[] = [];
  for (const size of options.sizes.split(",")) {
    const figures = await inOwnProcess(size);
    const rounded = Object.entries(figures).map(([name, value]) => [
      name,
      typeof value === "number" ? Math.round(value * 100) / 100 : value,
    ]);
    rows.push(Object.fromEntries(rounded));
  }
  console.table(rows);
}
