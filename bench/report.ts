import { median, type Run } from "./measure.ts";
import type { OracleTotals } from "./oracle.ts";

/** Everything measured about one workload. */
export interface Figures {
  readonly workload: string;
  readonly pods: number;
  readonly runs: readonly Run[];
  readonly plain: readonly Run[];
  readonly cold: readonly Run[];
  readonly peakRssMiB: number;
  readonly requestsBound: number;
  readonly linearBound: number;
  readonly oracle: readonly OracleTotals[];
}

const total = ({ buildMs, solveMs }: Run): number => buildMs + solveMs;

/** What the bars are about. */
export interface Summary {
  readonly workload: string;
  readonly ms: number;
  readonly coldMs: number;
  readonly price: number;
  readonly nodes: number;
  readonly unplaced: number;
  readonly polishShare: number;
  /** The same of the solve time alone, building left out. */
  readonly polishOfSolve: number;
  readonly peakRssMiB: number;
  readonly overRequests: number;
  readonly overLinear: number;
  /** No plan is below that over the requests. */
  readonly leastOverRequests: number;
  readonly speedUp?: number;
  readonly priceRatio?: number;
  readonly sameUnplaced?: boolean;
}

export function summaryOf(figures: Figures): Summary {
  const { workload, runs, plain, cold, oracle } = figures;
  const [first] = runs;
  const price = first?.price ?? 0;
  const ms = median(runs.map(total));
  const shared = { workload, ms, coldMs: median(cold.map(total)), price };
  return {
    ...shared,
    nodes: first?.nodes ?? 0,
    unplaced: first?.unplaced ?? 0,
    polishShare: median(runs.map(({ polishMs }) => polishMs)) / median(plain.map(total)),
    polishOfSolve: median(runs.map(({ polishMs }) => polishMs)) / median(plain.map(({ solveMs }) => solveMs)),
    peakRssMiB: figures.peakRssMiB,
    overRequests: price / figures.requestsBound,
    overLinear: price / figures.linearBound,
    leastOverRequests: figures.linearBound / figures.requestsBound,
    ...(oracle.length > 0 && {
      speedUp: median(oracle.map(({ solveMs }) => solveMs)) / ms,
      priceRatio: price / median(oracle.map(({ pricePerHour }) => pricePerHour)),
      sameUnplaced: oracle.every(({ unschedulable }) => unschedulable === (first?.unplaced ?? 0)),
    }),
  };
}

/** One line a workload, two with the oracle. */
export function table(all: readonly Figures[]): string {
  const head =
    "workload | pods | ms (spread) | cold ms | polish ms (of plain) | RSS MiB | nodes | $/h | plain nodes, $/h | over requests | over LP | unplaced".split(
      " | ",
    );
  const withOracle = all.some(({ oracle }) => oracle.length > 0);
  const more = "Go solve ms (spread) | Go heap MiB | Go nodes | Go $/h | Go unplaced | faster | price".split(" | ");
  const rows = all.map((figures) => [...ownCells(figures), ...(withOracle ? oracleCells(figures) : [])]);
  return markdown([withOracle ? [...head, ...more] : head, ...rows]);
}

function ownCells(figures: Figures): readonly string[] {
  const { ms, coldMs, price, nodes, unplaced, polishShare, overRequests, overLinear } = summaryOf(figures);
  const plain = figures.plain[0];
  const times = figures.runs.map(total);
  return [
    figures.workload,
    String(figures.pods),
    spread(ms, times),
    coldMs.toFixed(0),
    `${median(figures.runs.map(({ polishMs }) => polishMs)).toFixed(1)} (${percent(polishShare)})`,
    figures.peakRssMiB.toFixed(0),
    String(nodes),
    price.toFixed(2),
    `${plain?.nodes}, ${plain?.price.toFixed(2)}`,
    overRequests.toFixed(3),
    overLinear.toFixed(3),
    String(unplaced),
  ];
}

function oracleCells(figures: Figures): readonly string[] {
  const { oracle } = figures;
  if (oracle.length === 0) return Array.from({ length: 7 }, () => "");
  const { speedUp = 0, priceRatio = 0 } = summaryOf(figures);
  const times = oracle.map(({ solveMs }) => solveMs);
  const middle = (read: (one: OracleTotals) => number): number => median(oracle.map(read));
  return [
    spread(median(times), times),
    middle(({ peakHeapMiB }) => peakHeapMiB).toFixed(0),
    String(middle(({ newNodes }) => newNodes)),
    middle(({ pricePerHour }) => pricePerHour).toFixed(2),
    String(middle(({ unschedulable }) => unschedulable)),
    `${speedUp.toFixed(0)}x`,
    priceRatio.toFixed(4),
  ];
}

function spread(middle: number, values: readonly number[]): string {
  return `${middle.toFixed(0)} (${Math.min(...values).toFixed(0)}-${Math.max(...values).toFixed(0)})`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

export function markdown([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
