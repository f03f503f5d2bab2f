import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Answer, print, settle } from "./settle.ts";

const execute = promisify(execFile);

/** Folders of scenarios, and what the names of the files with their answers end in. */
const endings: Readonly<Record<string, string>> = {
  scheduling: ".expected.json",
  disruption: ".expected.json",
  quirks: ".upstream.json",
};
/** A few scheduling scenarios with every default filled in. */
const expanded = "expanded";

/** Paths, below the folder of scenarios, of the files whose content is the oracle's. */
export function answerFiles(scenarios: string): readonly string[] {
  const list = (folder: string): readonly string[] =>
    existsSync(join(scenarios, folder)) ? readdirSync(join(scenarios, folder)).sort() : [];
  const answers = Object.entries(endings).flatMap(([folder, ending]) =>
    list(folder)
      .filter((file) => file.endsWith(".yaml"))
      .map((file) => join(folder, file.replace(/\.yaml$/, ending))),
  );
  return [...answers, ...list(expanded).map((file) => join(expanded, file))];
}

export interface Remaking {
  readonly oracle: string;
  readonly scenarios: string;
  /** How often to ask: a choice among equals can come out the same way for a while. */
  readonly runs?: number;
}

/** The content of one of the answer files, made anew. */
export async function remake(path: string, { oracle, scenarios, runs = 60 }: Remaking): Promise<string> {
  const folder = dirname(path);
  const name = basename(path).replace(/\..*$/, "");
  const scenario = join(folder === expanded ? "scheduling" : folder, `${name}.yaml`);
  const flags = flagsIn(readFileSync(join(scenarios, scenario), "utf8"));
  const ask = async (...command: readonly string[]): Promise<string> => {
    const args = [...command, ...flags, scenario];
    return (await execute(oracle, args, { cwd: scenarios, maxBuffer: 2 ** 30 })).stdout;
  };
  if (folder === expanded) return `${JSON.stringify(JSON.parse(await ask("expand")))}\n`;
  const printed = await ask(folder === "disruption" ? "disrupt" : "schedule", `-repeat=${runs}`);
  return `${print(settle(printed.trim().split("\n").map(read)))}\n`;
}

/** The second line of a scenario may hold flags, as Go writes them. */
export function flagsIn(scenario: string): readonly string[] {
  return /^# flags: (.*)$/m.exec(scenario)?.[1]?.split(/\s+/) ?? [];
}

const measured: ReadonlySet<string> = new Set(["buildMs", "solveMs", "peakHeapMiB", "ms"]);

/** An answer without what is measured, and without the numbers of placeholders, which count attempts. */
function read(line: string): Answer {
  const text = line.replace(/hostname-placeholder-\d+/g, "hostname-placeholder-N");
  return JSON.parse(text, (key, value) => (measured.has(key) ? undefined : value));
}
