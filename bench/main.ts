import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { goProgram } from "../test/cluster/binaries.ts";
import { arrivals } from "./arrivals.ts";
import { barsOf } from "./bars.ts";
import { answer, type BoundsAnswer, type ColdAnswer, type Errand, type WarmAnswer } from "./child.ts";
import { askOracle, type OracleTotals } from "./oracle.ts";
import { type Figures, summaryOf, table } from "./report.ts";
import { type StepsAnswer, stepsTable } from "./steps.ts";
import { type Workload, workloads } from "./workloads.ts";

const execute = promisify(execFile);
const rounds = 3;
const mostMs = 10 * 60_000;

const { values: options } = parseArgs({
  options: {
    /** Also ask the Go implementation. */
    oracle: { type: "boolean", default: process.env["npm_config_oracle"] === "true" },
    /** Names of workloads, with commas between. */
    only: { type: "string" },
    /** Warm runs a workload. */
    runs: { type: "string", default: "7" },
    /** Many pods at once, in steps, in a small heap: how long the longest step is. */
    steps: { type: "boolean", default: false },
    /** A file for the figures. */
    json: { type: "string" },
    /** Used by the bench itself: what a process of its own is to measure. */
    errand: { type: "string" },
  },
});

const known: ReadonlyMap<string, () => Workload> = options.steps ? arrivals : workloads;
/** As small as the controller has to make do with, in MiB. */
const smallHeap = 512;

function named(name: string): Workload {
  const make = known.get(name);
  if (make === undefined) throw new Error(`no workload is called ${name}; known: ${[...known.keys()].join(", ")}`);
  return make();
}

async function inOwnProcess<T>(errand: Errand, workload: string): Promise<T> {
  const self = fileURLToPath(import.meta.url);
  const { stdout } = await execute(
    process.execPath,
    [
      ...(options.steps ? [`--max-old-space-size=${smallHeap}`] : []),
      self,
      ...["--errand", errand, "--only", workload, "--runs", options.runs],
      ...(options.steps ? ["--steps"] : []),
    ],
    { timeout: mostMs, maxBuffer: 64 * 2 ** 20 },
  );
  return JSON.parse(stdout) as T;
}

/** The two sides take turns, so that what else the machine does hits both. */
async function measure(name: string, oracle: string | undefined): Promise<Figures> {
  const workload = named(name);
  const cold: ColdAnswer[] = [];
  const asked: OracleTotals[] = [];
  for (let round = 0; round < rounds; round++) {
    cold.push(await inOwnProcess<ColdAnswer>("cold", name));
    if (oracle !== undefined) asked.push(await askOracle(oracle, workload));
  }
  const { runs, plain } = await inOwnProcess<WarmAnswer>("warm", name);
  const { pods, requests, linear } = await inOwnProcess<BoundsAnswer>("bounds", name);
  return {
    workload: name,
    pods,
    runs,
    plain,
    cold: cold.map(({ run }) => run),
    peakRssMiB: Math.max(...cold.map(({ peakRssMiB }) => peakRssMiB)),
    requestsBound: requests,
    linearBound: linear,
    oracle: asked,
  };
}

async function mainOfSteps(names: readonly string[]): Promise<void> {
  const all = new Map<string, StepsAnswer>();
  for (const name of names) {
    console.error(`${name} …`);
    all.set(name, await inOwnProcess<StepsAnswer>("steps", name));
  }
  console.log(`\n${stepsTable(all)}`);
}

async function main(): Promise<void> {
  const names = options.only?.split(",") ?? [...known.keys()];
  if (options.errand !== undefined) {
    process.stdout.write(
      JSON.stringify(await answer(options.errand as Errand, named(names[0] ?? ""), Number(options.runs))),
    );
    return;
  }
  for (const name of names) if (!known.has(name)) named(name);
  const load = (): string =>
    loadavg()
      .map((one) => one.toFixed(1))
      .join(" ");
  console.log(`${cpus().length} cores, ${cpus()[0]?.model}, Node ${process.version}, load ${load()}`);
  if (options.steps) return mainOfSteps(names);
  const oracle = options.oracle ? await goProgram("test/oracle") : undefined;
  const all: Figures[] = [];
  for (const name of names) {
    console.error(`${name} … (load ${load()})`);
    all.push(await measure(name, oracle));
  }
  const summaries = all.map(summaryOf);
  console.log(`\n${table(all)}\n`);
  const bars = barsOf(summaries);
  for (const { text, figure, isKept } of bars) console.log(`${isKept ? "ok  " : "MISS"} ${text}: ${figure}`);
  console.log(`\nload at the end ${load()}`);
  if (options.json !== undefined)
    await writeFile(options.json, `${JSON.stringify({ all, summaries, bars }, null, 2)}\n`);
}

await main();
