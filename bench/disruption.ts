import { execFile } from "node:child_process";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { groups } from "../src/api/labels.ts";
import { DisruptionPass } from "../src/core/disruption/disruption-pass.ts";
import type { DisruptionMethodName } from "../src/core/disruption/methods.ts";
import { sharedSimulator } from "../src/core/disruption/shared-simulator.ts";

import type { DisruptionSnapshot } from "../src/core/disruption/snapshot.ts";
import { withDisruptionConditions } from "../src/core/scenario/complete-disruption-conditions.ts";
import { completeObjects } from "../src/core/scenario/complete-objects.ts";
import { defaultSchedulingPolicy } from "../src/core/scheduling/problem.ts";
import { disruptionScenarioOf } from "../src/state/scenario.ts";
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

interface DisruptionFigures {
  readonly size: string;
  readonly snapshotMs: number;
  readonly firstCommandMs: number;
  readonly sweepMs: number;
  readonly multiNodeMs: number;
  readonly longestStepMs: number;
  readonly nodesRemovable: number;
  readonly price: number;
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

/** One search on a simulator of its own, with its time and its longest step. */
function search(snapshot: DisruptionSnapshot, method: DisruptionMethodName, sweep: "first" | "all") {
  const startedAt = performance.now();
  const steps = new DisruptionPass(snapshot).propose(method, {
    simulator: sharedSimulator(snapshot),
    searchBudget: { mayContinue: () => true },
    sweep,
  });
  let longestStepMs = 0;
  for (;;) {
    const stepAt = performance.now();
    const step = steps.next();
    longestStepMs = Math.max(longestStepMs, performance.now() - stepAt);
    if (step.done === true) return { proposal: step.value, ms: performance.now() - startedAt, longestStepMs };
  }
}

function measure(size: string): DisruptionFigures {
  const [nodes = 0, podsPerNode = 0] = size.split("x").map(Number);
  const startedAt = performance.now();
  const snapshot = snapshotOf(nodes, podsPerNode);
  const snapshotMs = performance.now() - startedAt;
  const first = search(snapshot, "single-node-consolidation", "first");
  const all = search(snapshot, "single-node-consolidation", "all");
  const multi = search(snapshot, "multi-node-consolidation", "first");
  const removable = all.proposal.verdicts.filter(({ code }) => code === "chosen" || code === "possible").length;
  return {
    size,
    snapshotMs,
    firstCommandMs: first.ms,
    sweepMs: all.ms,
    multiNodeMs: multi.ms,
    longestStepMs: Math.max(first.longestStepMs, all.longestStepMs, multi.longestStepMs),
    nodesRemovable: removable,
    price: all.proposal.candidates.reduce((sum, { price }) => sum + price, 0),
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
      typeof value === "number" ? Math.round(value * 10) / 10 : value,
    ]);
    rows.push(Object.fromEntries(rounded));
  }
  console.table(rows);
}
