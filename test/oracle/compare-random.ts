import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { goProgram } from "../cluster/binaries.ts";
import { type Disruption, disruptionDifferences } from "../scenarios/compare-disruption.ts";
import { plan } from "../scenarios/run.ts";
import { randomCluster } from "./random-cluster.ts";

// Random clusters beside the oracle: every method must give one of the answers that upstream gives, which draws by chance.

const { values: options } = parseArgs({
  options: {
    /** How many clusters. */
    count: { type: "string", default: "100" },
    /** The first seed. */
    seed: { type: "string", default: "1" },
    /** How often upstream is asked about each. */
    draws: { type: "string", default: "8" },
    /** And once more, this often, before a difference is believed. */
    believe: { type: "string", default: "60" },
    /** `default` compares what acts, and lets replacements be fewer and cheaper. */
    mode: { type: "string", default: "upstream" },
    /** The program, if it is built already. */
    oracle: { type: "string" },
  },
});

const execute = promisify(execFile);
const oracle = options.oracle ?? (await goProgram("test/oracle"));
const folder = mkdtempSync(join(tmpdir(), "karpenter-random-clusters-"));
let different = 0;
let refused = 0;
/** How often each method had a command, so that one sees what was compared. */
const commands = new Map<string, number>();
for (let seed = Number(options.seed); seed < Number(options.seed) + Number(options.count); seed++) {
  const found = await differencesOf(seed);
  if (found === "refused") refused++;
  else if (found.length > 0) {
    different++;
    console.log(`seed ${seed} (${join(folder, `${seed}.json`)}):`);
    for (const line of found) console.log(`  ${line.slice(0, 600)}`);
  }
}
console.log(
  `${options.count} clusters from seed ${options.seed}: ${different} differ, ${refused} were refused by upstream`,
);
console.log(`clusters with a command: ${[...commands].map(([method, count]) => `${method} ${count}`).join(", ")}`);
process.exitCode = different === 0 ? 0 : 1;

/** What no draw of upstream explains; `refused` if upstream has no answer. */
async function differencesOf(seed: number): Promise<readonly string[] | "refused"> {
  const { objects, hasSpotToSpot } = randomCluster(seed);
  const text = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }, null, 1);
  const file = join(folder, `${seed}.json`);
  writeFileSync(file, text);
  const flags = hasSpotToSpot ? ["-spot-to-spot"] : [];
  const ours = await ourAnswer(text, flags);
  const first = await answers(file, [...flags, `-repeat=${options.draws}`]);
  if (first === undefined) return "refused";
  if (ours === undefined) return ["ours has no answer"];
  for (const { method, commands: own } of ours.methods) {
    if (own.length > 0) commands.set(method, (commands.get(method) ?? 0) + 1);
  }
  if (unexplained(ours, first).length === 0) return [];
  const more = await answers(file, [...flags, `-repeat=${options.believe}`]);
  return unexplained(ours, [...first, ...(more ?? [])]);
}

async function ourAnswer(text: string, flags: readonly string[]): Promise<Disruption | undefined> {
  const args = ["--disruption", "--disruption-mode", options.mode, "--now", "2026-01-15T12:00:00Z", "-o", "json"];
  const all = ["-f", "cluster.json", ...args, "--packing", "plain", ...flags.map((flag) => `-${flag}`)];
  const ran = await plan(all, { files: { "cluster.json": text } });
  if (ran.out === "") console.log(ran.err);
  return ran.out === "" ? undefined : (JSON.parse(ran.out) as Disruption);
}

async function answers(file: string, flags: readonly string[]): Promise<readonly Disruption[] | undefined> {
  try {
    const { stdout } = await execute(oracle, ["disrupt", ...flags, file], { maxBuffer: 2 ** 28 });
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Disruption);
  } catch (error) {
    console.log(`upstream: ${String((error as { stderr?: string }).stderr ?? error).slice(0, 300)}`);
    return undefined;
  }
}

/** Each method is compared with every draw on its own: methods draw independently. */
function unexplained(ours: Disruption, draws: readonly Disruption[]): readonly string[] {
  if (options.mode === "default") {
    return fewest(draws.map((draw) => disruptionDifferences(draw, ours, "default")));
  }
  return ours.methods.flatMap((own) => {
    const perDraw = draws.map((draw) => {
      const methods = draw.methods.filter(({ method }) => method === own.method);
      return disruptionDifferences({ acts: "", methods }, { acts: "", methods: [own] }, "strict");
    });
    return fewest(perDraw);
  });
}

/** What sets the answer apart from the draw it resembles most. */
function fewest(perDraw: readonly (readonly string[])[]): readonly string[] {
  return perDraw.toSorted((a, b) => a.length - b.length)[0] ?? [];
}
