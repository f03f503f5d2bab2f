import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { goProgram } from "../cluster/binaries.ts";
import type { Level } from "../scenarios/compare.ts";
import { deliberateDifference, type Judgement, judge } from "./judge.ts";
import { Oracle } from "./oracle.ts";
import type { DifferentialProblem } from "./problem.ts";
import { randomProblem } from "./random-problem.ts";
import { shrink } from "./shrink.ts";

const { values } = parseArgs({
  options: {
    /** How many problems. */
    count: { type: "string", default: "200" },
    /** The seed of the first problem; the others follow. */
    seed: { type: "string", default: "1" },
    /** The same plan is asked for; otherwise one that is as good. */
    strict: { type: "boolean", default: false },
    /** And the same texts. */
    exact: { type: "boolean", default: false },
    /** How many are compared at a time. */
    jobs: { type: "string", default: "2" },
    /** Where problems on which the answers differ are written. */
    out: { type: "string", default: "differential-found" },
  },
});
/** What differs first; shrinking must not end at another difference. */
function sortOf(judgement: Judgement): string | undefined {
  return judgement.kind === "different" ? judgement.details[0]?.split(":", 1)[0] : undefined;
}

const level: Level = values.exact ? "exact" : values.strict ? "strict" : "default";
const counts = { agreed: 0, drawn: 0, deliberate: 0, different: 0, unanswered: 0 };
const started = Date.now();
const program = await goProgram("test/oracle");
let next = Number(values.seed);
const end = next + Number(values.count);
await Promise.all(Array.from({ length: Number(values.jobs) }, compareInTurn));
console.log(`${JSON.stringify(counts)} in ${Math.round((Date.now() - started) / 1000)} s`);
process.exitCode = counts.different > 0 ? 1 : 0;

/** Takes one seed after the other, beside others that do the same. */
async function compareInTurn(): Promise<void> {
  const oracle = new Oracle(program);
  while (next < end) await compare(next++, oracle);
  oracle.stop();
}

async function compare(seed: number, oracle: Oracle): Promise<void> {
  const problem = randomProblem(seed);
  const judgement = await judge(problem, { oracle, level });
  const row = judgement.kind === "different" ? await deliberateDifference(problem, { oracle, level }) : undefined;
  counts[row === undefined ? judgement.kind : "deliberate"]++;
  if (judgement.kind === "unanswered") console.log(`seed ${seed}: ${judgement.because.slice(0, 400)}`);
  if (row !== undefined) console.log(`seed ${seed}: differs on purpose: ${row}`);
  if (seed % 100 === 0) console.log(`seed ${seed}: ${JSON.stringify(counts)}`);
  if (judgement.kind !== "different" || row !== undefined) return;
  const sort = sortOf(judgement);
  const smaller = await shrink(problem, async (candidate) => {
    // Without a pool of its own `plan` takes a default one, which upstream does not know.
    if (!candidate.objects.some(({ kind }) => kind === "NodePool")) return false;
    return sortOf(await judge(candidate, { oracle, level, rounds: 2 })) === sort;
  });
  report(seed, smaller, await judge(smaller, { oracle, level }));
}

function report(seed: number, problem: DifferentialProblem, judgement: Judgement): void {
  mkdirSync(values.out, { recursive: true });
  const file = join(values.out, `${seed}.json`);
  writeFileSync(file, `${JSON.stringify({ problem, ...judgement }, null, 2)}\n`);
  console.log(`seed ${seed}: different, see ${file}`);
  for (const detail of judgement.kind === "different" ? judgement.details : [])
    console.log(`   ${detail.slice(0, 300)}`);
}
