import { readdirSync, readFileSync, statSync } from "node:fs";
import { availableParallelism, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findMutants } from "./find-mutants.ts";
import { type Mutant, mutantText } from "./mutant.ts";
import { runMutantWorker } from "./mutant-worker.ts";
import { loadReach, type ReachMap } from "./reach.ts";
import { sampleMutants } from "./sample.ts";
import { scoreLines, type Tried } from "./score.ts";
import { WorkerProcess } from "./worker-process.ts";

/** `npm run mutate -- PATH...`: small faults in the source, one at a time, and which of them no test notices. */

const root = process.cwd();
// The cases of property tests are those of CI, so that a verdict repeats.
process.env["FC_SEED"] ??= "20261115";

if (process.argv.includes("--worker")) await runMutantWorker(root);
else process.exitCode = await main();

async function main(): Promise<number> {
  setPriority(10); // it takes long: others on the machine go first; the processes it starts do as it does
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      jobs: { type: "string", default: String(Math.min(2, availableParallelism())) },
      seconds: { type: "string", default: "300" },
      "fresh-reach": { type: "boolean", default: false },
      list: { type: "boolean", default: false },
    },
  });
  if (positionals.length === 0) {
    print(
      "usage: npm run mutate -- PATH[:LINE]... [--sample N --seed S] [--jobs N] [--seconds N] [--fresh-reach] [--list]",
    );
    return 2;
  }
  const all = positionals.flatMap(mutantsAt);
  const chosen = values.sample === undefined ? all : sampleMutants(all, Number(values.sample), values.seed);
  print(`${chosen.length} of ${all.length} mutants${values.sample === undefined ? "" : `, seed ${values.seed}`}`);
  if (values.list) {
    for (const mutant of chosen) print(textOf(mutant));
    return 0;
  }
  const reach = await loadReach({ root, isFresh: values["fresh-reach"], log: print });
  const tried = await tryAll(chosen, { reach, jobs: Number(values.jobs), limitMs: Number(values.seconds) * 1_000 });
  for (const line of scoreLines(tried, textOf)) print(line);
  return 0;
}

/** Of a file, of one line of it, or of all files in a folder. */
function mutantsAt(path: string): readonly Mutant[] {
  const [file = "", line] = path.replace(/^\.\//, "").split(":");
  if (statSync(join(root, file)).isDirectory()) {
    const names = readdirSync(join(root, file), { recursive: true, encoding: "utf8" });
    return names
      .filter(isSource)
      .toSorted()
      .flatMap((name) => mutantsAt(join(file, name)));
  }
  const mutants = findMutants(file, sourceOf(file));
  return line === undefined ? mutants : mutants.filter((mutant) => mutant.line === Number(line));
}

function isSource(name: string): boolean {
  return name.endsWith(".ts") && !/(?:\.test|-data|(?:^|\/)index)\.ts$/.test(name);
}

interface TryOptions {
  readonly reach: ReachMap;
  readonly jobs: number;
  /** What the tests of one mutant may compute together, as measured without it. */
  readonly limitMs: number;
}

async function tryAll(mutants: readonly Mutant[], { reach, jobs, limitMs }: TryOptions): Promise<readonly Tried[]> {
  const waiting = [...mutants.entries()];
  const tried: Tried[] = [];
  const work = async () => {
    const worker = new WorkerProcess(fileURLToPath(import.meta.url));
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, mutant] = next;
      const reaching = reach.testsFor(mutant);
      const tests = reach.within(reaching, limitMs);
      const slowestMs = Math.max(0, ...tests.map((test) => reach.cpuMs(test)));
      const trial = await worker.try({ mutant, tests }, 4 * slowestMs + 60_000);
      tried[at] = { mutant, trial };
      const by =
        trial.kind === "killed"
          ? ` by ${trial.by.file}: ${trial.by.failure}`
          : ` (${tests.length} of ${reaching.length} test files)`;
      print(`${at + 1} ${trial.kind}${by}\n    ${textOf(mutant)}`);
    }
    worker.stop();
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return tried;
}

function textOf(mutant: Mutant): string {
  return mutantText(sourceOf(mutant.file), mutant);
}

function sourceOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
