import type { Decision } from "../src/core/scheduling/decision.ts";
import type { SchedulingProblem } from "../src/core/scheduling/problem.ts";
import { solve, solveInSteps } from "../src/core/scheduling/solve.ts";
import { median } from "./measure.ts";
import { problemFor } from "./prepare.ts";
import { markdown } from "./report.ts";
import type { Workload } from "./workloads.ts";

/** How a pass behaves for those who take it in steps, in a process that has never done it before. */
export interface StepsAnswer {
  readonly pods: number;
  readonly nodes: number;
  readonly refused: number;
  readonly steps: number;
  readonly longestMs: number;
  readonly p999Ms: number;
  readonly coldMs: number;
  readonly warmMs: number;
  readonly problemMiB: number;
  /** Above what the problem itself holds. */
  readonly passMiB: number;
  readonly rssMiB: number;
}

const rounds = 5;

export function measureSteps(workload: Workload): StepsAnswer {
  const problem = problemFor(workload, { packing: "polished" });
  const problemMiB = heapMiB();
  const { decision, times, peakMiB, coldMs } = drain(problem);
  const warm = Array.from({ length: rounds }, () => timed(() => solve(problem)));
  const sorted = times.toSorted((a, b) => a - b);
  return {
    pods: problem.pods.length,
    nodes: decision.newNodes.length,
    refused: decision.refusals.length,
    steps: times.length,
    longestMs: sorted.at(-1) ?? 0,
    p999Ms: sorted[Math.floor(sorted.length * 0.999)] ?? 0,
    coldMs,
    warmMs: median(warm),
    problemMiB,
    passMiB: peakMiB - problemMiB,
    rssMiB: process.resourceUsage().maxRSS / 1024,
  };
}

/** Every step by the clock, garbage collection included, and a look at the heap every few milliseconds. */
function drain(problem: SchedulingProblem): Drained {
  const pass = solveInSteps(problem);
  const times: number[] = [];
  let peakMiB = 0;
  let looked = 0;
  const begun = performance.now();
  for (;;) {
    const cpu = process.cpuUsage();
    const started = performance.now();
    const turn = pass.next();
    const ended = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    // Machines are shared: the time in which others had the core is not the step's.
    times.push(Math.min(ended - started, (user + system) / 1000));
    if (turn.done === true || ended - looked > 5) {
      peakMiB = Math.max(peakMiB, heapMiB());
      looked = ended;
    }
    if (turn.done === true) return { decision: turn.value, times, peakMiB, coldMs: performance.now() - begun };
  }
}

interface Drained {
  readonly decision: Decision;
  readonly times: readonly number[];
  readonly peakMiB: number;
  readonly coldMs: number;
}

function timed(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

function heapMiB(): number {
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** One line a workload. */
export function stepsTable(all: ReadonlyMap<string, StepsAnswer>): string {
  const head =
    "arrivals | pods | nodes | refused | steps | longest step ms | p99.9 ms | cold ms | warm ms | problem MiB | pass MiB | RSS MiB";
  const rows = [...all].map(([name, one]) => [
    name,
    ...[one.pods, one.nodes, one.refused, one.steps].map(String),
    ...[one.longestMs, one.p999Ms].map((ms) => ms.toFixed(1)),
    ...[one.coldMs, one.warmMs, one.problemMiB, one.passMiB, one.rssMiB].map((n) => n.toFixed(0)),
  ]);
  return markdown([head.split(" | "), ...rows]);
}
