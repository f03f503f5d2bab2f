import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { goProgram } from "../cluster/binaries.ts";
import { Oracle } from "../differential/oracle.ts";
import type { DisruptionProblem, PlainObject } from "../differential/problem.ts";
import { shrink } from "../differential/shrink.ts";
import type { Disruption } from "../scenarios/compare-disruption.ts";
import { type DisruptionJudgement, deliberateDisruption, judgeDisruption } from "./disruption/judge.ts";
import { randomDisruption } from "./disruption/problem.ts";
import { randomCluster } from "./random-cluster.ts";

// Random clusters beside the oracle: every method must give one of the answers that upstream gives, which draws by chance.

const { values: options } = parseArgs({
  options: {
    /** How many clusters. */
    count: { type: "string", default: "100" },
    /** The first seed. */
    seed: { type: "string", default: "1" },
    /** `small`: few features, built-in instance types. `wide`: every feature and catalogue. */
    clusters: { type: "string", default: "wide" },
    /** How often upstream is asked before a difference is believed. */
    believe: { type: "string", default: "300" },
    /** `default` compares what acts, and lets replacements be fewer and cheaper. */
    mode: { type: "string", default: "upstream" },
    /** How many attempts to make a problem smaller; 0: none. */
    shrink: { type: "string", default: "0" },
    /** The program, if it is built already. */
    oracle: { type: "string" },
  },
});

/** Most often the first draw explains the answer. */
const draws = [1, 8, Number(options.believe)];
const judging = { oracle: new Oracle(options.oracle ?? (await goProgram("test/oracle"))), mode: options.mode, draws };
const folder = mkdtempSync(join(tmpdir(), "karpenter-random-clusters-"));
const counts = { agreed: 0, drawn: 0, deliberate: 0, different: 0, unanswered: 0 };
/** How often each method had a command, so that one sees what was compared. */
const commands = new Map<string, number>();
const first = Number(options.seed);
for (let seed = first; seed < first + Number(options.count); seed++) {
  await compare(seed);
  if ((seed - first) % 100 === 99) console.log(`seed ${seed}: ${JSON.stringify(counts)}`);
}
judging.oracle.stop();
console.log(`${options.count} clusters from seed ${options.seed}: ${JSON.stringify(counts)}`);
console.log(`clusters with a command: ${[...commands].map(([method, count]) => `${method} ${count}`).join(", ")}`);
process.exitCode = counts.different === 0 ? 0 : 1;

async function compare(seed: number): Promise<void> {
  const problem = options.clusters === "small" ? smallProblem(seed) : randomDisruption(seed);
  const judgement = await judgeDisruption(problem, judging);
  const row = judgement.kind === "different" ? await deliberateDisruption(problem, judging) : undefined;
  counts[row === undefined ? judgement.kind : "deliberate"]++;
  if (judgement.kind === "unanswered") return console.log(`seed ${seed}: ${judgement.because.slice(0, 400)}`);
  countCommands(judgement.ours);
  if (row !== undefined) return console.log(`seed ${seed}: differs on purpose: ${row}`);
  if (judgement.kind === "different") await report(problem, judgement);
}

/** Shrinking must not end at another difference. */
async function report(problem: DisruptionProblem, judgement: DisruptionJudgement): Promise<void> {
  const sort = sortOf(judgement);
  const quick = { ...judging, draws: [1, 8] };
  const smaller = await shrink(
    problem,
    async (candidate) => sortOf(await judgeDisruption(candidate, quick)) === sort,
    Number(options.shrink),
  );
  const final = await judgeDisruption(smaller, judging);
  const file = join(folder, `${problem.seed}.json`);
  writeFileSync(file, `${JSON.stringify({ problem: smaller, ...final, whole: problem }, null, 1)}\n`);
  console.log(`seed ${problem.seed} (${file}):`);
  for (const line of detailsOf(judgement)) console.log(`  ${line.slice(0, 600)}`);
}

function sortOf(judgement: DisruptionJudgement): string | undefined {
  return detailsOf(judgement)[0]?.replace(/: got .*/s, "");
}

function detailsOf(judgement: DisruptionJudgement): readonly string[] {
  return judgement.kind === "different" ? judgement.details : [];
}

function countCommands({ methods }: Disruption): void {
  for (const { method, commands: own } of methods) {
    if (own.length > 0) commands.set(method, (commands.get(method) ?? 0) + 1);
  }
}

function smallProblem(seed: number): DisruptionProblem {
  const { objects, hasSpotToSpot } = randomCluster(seed);
  return {
    command: "disrupt",
    seed,
    now: "2026-01-15T12:00:00Z",
    ...(hasSpotToSpot && { spotToSpot: true as const }),
    catalogue: "kwok",
    objects: objects as readonly PlainObject[],
  };
}
