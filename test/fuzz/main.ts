import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort } from "node:worker_threads";
import { drawStory } from "./draw.ts";
import { formatReplay, parseReplay, type Replay, storyOf } from "./replay.ts";
import { Report } from "./report.ts";
import { runStory } from "./run-story.ts";
import { compareSettled, type SettledPrices, settledPrices } from "./settled-price.ts";
import { shrink } from "./shrink.ts";
import { type Finished, WorkerPool } from "./worker-pool.ts";

/** `npm run fuzz`: many seeds, each a whole cluster in a bad world. */

const timeoutMs = 120_000;
const mostTries = 60;
const shrinkMs = 90_000;
const mostShrunk = 3;

if (isMainThread) process.exitCode = await main();
else runAsWorker();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "100" },
      from: { type: "string", default: "1" },
      jobs: { type: "string", default: "2" },
      replay: { type: "string" },
      log: { type: "boolean", default: false },
      "no-shrink": { type: "boolean", default: false },
      settled: { type: "boolean", default: false },
    },
  });
  if (values.replay !== undefined) return replayOne(parseReplay(values.replay), values.log);
  if (values.settled) return compareWithUpstream(Number(values.from), Number(values.seeds));
  const workers = new WorkerPool({ file: fileURLToPath(import.meta.url), jobs: Number(values.jobs), timeoutMs });
  const report = new Report({ seeds: Number(values.seeds), write: (text) => void process.stdout.write(text) });
  const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => Number(values.from) + at);
  await Promise.all(seeds.map(async (seed) => report.add(await workers.run({ seed, without: [] }))));
  report.print();
  for (const [at, { outcome }] of report.failures.entries()) {
    const replay = { seed: outcome.seed, without: [] };
    await printFailure(
      values["no-shrink"] || at >= mostShrunk ? replay : await shrunk(replay, outcome.complaints, workers),
      outcome.complaints,
    );
  }
  await workers.close();
  return report.failures.length > 0 ? 1 : 0;
}

/** `--settled`: what clusters cost once disruption is done with them, beside mode `upstream`. */
async function compareWithUpstream(from: number, seeds: number): Promise<number> {
  const all: SettledPrices[] = [];
  for (let seed = from; seed < from + seeds; seed++) {
    const prices = await settledPrices(seed);
    all.push(prices);
    const { ours, upstream } = prices;
    process.stdout.write(
      `${seed}: ${ours.before.toFixed(4)} -> ${ours.after.toFixed(4)}, upstream ${upstream.after.toFixed(4)}\n`,
    );
  }
  const { lines, failures } = compareSettled(all);
  process.stdout.write(`${[...lines, ...failures].join("\n")}\n`);
  return failures.length > 0 ? 1 : 0;
}

async function replayOne(replay: Replay, isLogged: boolean): Promise<number> {
  const { complaints, world, ...outcome } = await runStory(storyOf(replay));
  if (isLogged) {
    const said = world.lines.map(
      ({ at, level, message, values }) => `${at} log ${level} ${message} ${valuesText(values)}`,
    );
    const all = [...world.record.lines.filter((line) => !/leases\.| events /.test(line)), ...said];
    process.stdout.write(`${all.sort((a, b) => Number.parseFloat(a) - Number.parseFloat(b)).join("\n")}\n`);
  }
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
  printFailure(replay, complaints);
  return complaints.length > 0 ? 1 : 0;
}

function valuesText(values: object): string {
  return JSON.stringify(values, (_, value: unknown) => (value instanceof Error ? String(value.cause ?? value) : value));
}

/** Fails in the same way: with a complaint of the same kind. */
async function shrunk(failing: Replay, complaints: readonly string[], workers: WorkerPool): Promise<Replay> {
  const kind = kindOf(complaints[0]);
  const until = performance.now() + shrinkMs;
  return shrink(failing, {
    fails: async (replay) => (await workers.run(replay)).outcome.complaints.some((one) => kindOf(one) === kind),
    mostTries,
    goesOn: () => performance.now() < until,
  });
}

/** Without times, names and numbers. */
function kindOf(complaint = ""): string {
  return complaint
    .replace(/^\S+ /, "")
    .split(" ")
    .filter((word) => /^[a-zA-Z,]+$/.test(word))
    .slice(0, 4)
    .join(" ");
}

function printFailure(replay: Replay, complaints: readonly string[]): void {
  const write = (line: string) => process.stdout.write(`${line}\n`);
  if (complaints.length === 0) return;
  write(`\nnpm run fuzz -- --replay ${formatReplay(replay)}`);
  for (const complaint of complaints.slice(0, 8)) write(`  ${complaint}`);
  const { events } = drawStory(replay.seed);
  for (const step of replay.steps ?? events.keys()) {
    const event = events[step];
    write(`  ${step}: ${JSON.stringify(event?.action)}, then ${(event?.passMs ?? 0) / 1_000} s`);
  }
}

function runAsWorker(): void {
  parentPort?.on("message", async (replay: Replay) => {
    const startedAt = performance.now();
    const { world: _, ...outcome } = await runStory(storyOf(replay));
    const finished: Finished = { outcome, tookMs: performance.now() - startedAt };
    parentPort?.postMessage(finished);
  });
}
