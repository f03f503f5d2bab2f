import { readFileSync } from "node:fs";
import { below, type Figure, holds, show, told } from "../figures.ts";
import { BenchProcesses, pause, type Running, until } from "./bench-processes.ts";
import type { LoopFigures, ProcessFigures } from "./measured-run.ts";

/** Twenty thousand pods that wait at once for controllers with half a gigabyte of heap. */

const count = 20_000;
const heapMb = 512;
const nodeFlags = [`--max-old-space-size=${heapMb}`, ...(process.env["RUN_FLAGS"]?.split(" ") ?? [])];

interface Story {
  readonly name: string;
  /** Whether the pods are there when the controllers start, or arrive later. */
  readonly isEarly: boolean;
  readonly flags: readonly string[];
}

const stories: readonly Story[] = [
  { name: "arriving", isEarly: false, flags: [] },
  { name: "there at the start, rounds of 300 ms", isEarly: true, flags: ["--solve-budget", "300ms"] },
];

interface Outcome {
  readonly loop: LoopFigures;
  readonly figures: ProcessFigures;
  readonly takenInMs: number;
  readonly firstClaimMs: number;
  readonly claims: number;
  readonly rounds: number;
  readonly health: Running["health"];
  readonly transitions: number;
}

async function outcomeOf({ isEarly, flags }: Story): Promise<Outcome> {
  const stage = new BenchProcesses({ isStanding: false });
  let running: Running | undefined;
  try {
    const early = isEarly ? await stage.server.ask("arrive", count) : undefined;
    const startedAt = Date.now();
    running = await stage.run({ nodeFlags, flags });
    const { process: controllers, health, log } = running;
    if (!isEarly) await pause(3_000);
    if (!isEarly) await controllers.ask("loop"); // how it started is the other story
    const { from, to } = early ?? (await stage.server.ask("arrive", count));
    const claimTimes = await untilQuiet(stage);
    return {
      loop: await controllers.ask("loop"),
      figures: await controllers.ask("process"),
      takenInMs: to - from,
      firstClaimMs: (claimTimes[0] ?? Number.NaN) - (isEarly ? startedAt : from),
      claims: claimTimes.length,
      rounds: readFileSync(log, "utf8").split('"found provisionable pod(s)"').length - 1,
      health,
      transitions: (await stage.server.ask("lease")).transitions,
    };
  } catch (error) {
    console.log(stage.output());
    throw error;
  } finally {
    running?.health.stop();
    await running?.process.end("SIGTERM");
    await stage.end();
  }
}

const quietMs = 15_000;

/** Pods ask again every ten seconds: who has nothing to buy then is done. */
async function untilQuiet({ server }: BenchProcesses): Promise<readonly number[]> {
  let times: readonly number[] = [];
  const isQuiet = async (): Promise<boolean> => {
    times = await server.ask("claimTimes");
    return times.length > 0 && Date.now() - (times.at(-1) ?? 0) > quietMs;
  };
  await until(isQuiet, { withinMs: 180_000, what: "the last NodeClaim" });
  return times;
}

function figuresOf(name: string, outcome: Outcome): readonly Figure[] {
  const { loop, figures, health, takenInMs, firstClaimMs, claims, rounds, transitions } = outcome;
  const own = Math.max(0, ...loop.late.map(({ ownMs }) => ownMs));
  const answered = `${health.asked - health.failed} of ${health.asked}, slowest ${health.slowestMs.toFixed(0)} ms`;
  const rows = [
    below("first NodeClaim after", firstClaimMs / 1_000, { bar: 10, unit: "s" }),
    below("longest event loop delay", loop.longestMs, { bar: 100, unit: "ms" }),
    told("delays above 50 ms; most of one it worked itself", `${loop.late.length}; ${own.toFixed(0)} ms`),
    told("longest pause for garbage", `${loop.longestCollectionMs.toFixed(0)} ms`),
    holds("/healthz answers", health.failed === 0, answered),
    holds("the lease is kept", transitions === 0, transitions === 0 ? "yes" : `lost ${transitions} times`),
    told("NodeClaims, rounds that bought", `${claims}, ${rounds}`),
    told("the API server took the pods in within", `${(takenInMs / 1_000).toFixed(1)} s`),
    told(
      `peak RSS under --max-old-space-size=${heapMb}; CPU`,
      `${figures.peakRssMb.toFixed(0)} MB; ${(figures.cpuMs / 1_000).toFixed(1)} s`,
    ),
  ];
  return rows.map((row) => ({ ...row, what: `${name}: ${row.what}` }));
}

const figures: Figure[] = [];
for (const story of stories) figures.push(...figuresOf(story.name, await outcomeOf(story)));
show(`${count} pending pods at once, KWOK`, figures);
