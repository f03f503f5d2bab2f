import { monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { main } from "../../src/cli/main.ts";
import { ClusterState } from "../../src/state/cluster-state.ts";
import { answer } from "./asking.ts";

/** `karpenter` with a watch on itself: what it does is what the command does. */

export interface LoopFigures {
  /** As `monitorEventLoopDelay` has it, beyond its own period. */
  readonly longestMs: number;
  /** When the loop was late by more than 50 ms: when, by how much, and how much of that this process worked. */
  readonly late: readonly Late[];
  /** Pauses for garbage. */
  readonly longestCollectionMs: number;
}

export interface Late {
  readonly at: number;
  readonly ms: number;
  readonly ownMs: number;
}

export interface ProcessFigures {
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly peakRssMb: number;
  readonly heapMb: number;
}

export interface SnapshotFigures {
  readonly ms: number;
  /** Of it, what went into collecting garbage. */
  readonly garbageMs: number;
  readonly nodes: number;
  readonly pods: number;
}

const periodMs = 5;
const delays = monitorEventLoopDelay({ resolution: periodMs });
delays.enable();

const lateMs = 50;
let late: Late[] = [];
let [lastAt, lastCpu] = [performance.now(), cpuMs()];
setInterval(() => {
  const [now, cpu] = [performance.now(), cpuMs()];
  const ms = now - lastAt - periodMs;
  if (ms > lateMs) late.push({ at: Date.now(), ms, ownMs: Math.min(ms, cpu - lastCpu) });
  [lastAt, lastCpu] = [now, cpu];
}, periodMs).unref();

let longestCollectionMs = 0;
let collections: PerformanceEntry[] = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) longestCollectionMs = Math.max(longestCollectionMs, entry.duration);
  collections.push(...list.getEntries());
}).observe({ entryTypes: ["gc"] });

/** How much of a stretch of time went into collecting garbage: known a turn of the event loop later. */
function garbageWithin(from: number, to: number): number {
  const shares = collections.map(
    ({ startTime, duration }) => Math.min(to, startTime + duration) - Math.max(from, startTime),
  );
  return shares.reduce((sum, share) => sum + Math.max(0, share), 0);
}

let state: ClusterState | undefined;
type Taken = Omit<SnapshotFigures, "garbageMs"> & { readonly at: number };
let snapshots: Taken[] = [];
const { snapshot } = ClusterState.prototype;
ClusterState.prototype.snapshot = function (this: ClusterState) {
  state = this;
  const startedAt = performance.now();
  const taken = snapshot.call(this);
  const ms = performance.now() - startedAt;
  snapshots.push({
    at: startedAt,
    ms,
    nodes: taken.nodes.length,
    pods: taken.boundPods.length + taken.pendingPods.length,
  });
  return taken;
};
const { markInitialListComplete } = ClusterState.prototype;
ClusterState.prototype.markInitialListComplete = function (this: ClusterState) {
  state = this;
  markInitialListComplete.call(this);
};

function figuresOf({ at, ...taken }: Taken): SnapshotFigures {
  return { ...taken, garbageMs: garbageWithin(at, at + taken.ms) };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export const answers = {
  /** What happened to the event loop since the last question. */
  loop: (): LoopFigures => {
    const figures = { longestMs: delays.max / 1e6 - periodMs, late, longestCollectionMs };
    delays.reset();
    [late, longestCollectionMs] = [[], 0];
    return figures;
  },
  process: (): ProcessFigures => {
    const { rss, heapUsed } = process.memoryUsage();
    const peakRssMb = process.resourceUsage().maxRSS / 1_024;
    return { cpuMs: cpuMs(), rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20, peakRssMb };
  },
  isSynced: (): boolean => state?.hasSynced ?? false,
  /** Takes one more. */
  snapshot: (): SnapshotFigures | undefined => {
    state?.snapshot();
    const last = snapshots.at(-1);
    return last && figuresOf(last);
  },
  /** Those taken since the last question. */
  snapshots: (): readonly SnapshotFigures[] => {
    const taken = snapshots.map(figuresOf);
    [snapshots, collections] = [[], []];
    return taken;
  },
};
export type RunAnswers = typeof answers;

answer(answers);
process.exitCode = await main(process.argv.slice(2));
