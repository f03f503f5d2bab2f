import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command, CommanderError } from "commander";
import type { DisruptionReport } from "../../src/cli/plan/disruption-report.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { planCommand } from "../../src/cli/plan-command.ts";
import { type FakeWorld, fakeIo } from "../conversion/fake-io.ts";
import { flagsIn } from "../oracle/answers.ts";

const root = join(import.meta.dirname, "..", "fixtures", "scenarios");

/** A folder of scenarios, by name. */
export function scenariosIn(folder: string, ending = ".yaml"): readonly string[] {
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith(ending));
  return files.map((file) => file.slice(0, -ending.length)).sort();
}

export function readScenario(...path: readonly string[]): string {
  return readFileSync(join(root, ...path), "utf8");
}

/** What a command said. */
export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** The command a user would run, in this process. */
export async function plan(args: readonly string[], world: FakeWorld = {}): Promise<Ran> {
  const io = fakeIo(world);
  try {
    await new Command("karpenter").addCommand(planCommand(io)).parseAsync(["plan", ...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return { out: io.out(), err: io.err(), code: io.code() ?? 0 };
}

/** Scenarios are planned at this time unless they say otherwise. */
const usualTime = "2026-01-15T12:00:00Z";

export interface ScenarioOptions {
  readonly args?: readonly string[];
  readonly file?: string;
  /** The folder of the scenario whose flags apply. */
  readonly flagsFrom?: string;
}

/** `plan -o json --packing plain --rounds 1` of a scenario, with the flags that are written in it. */
export async function planScenario(folder: string, name: string, options: ScenarioOptions = {}): Promise<PlanReport> {
  return (await planScenarioJson(folder, name, options)) as PlanReport;
}

/** The same with `--disruption`. */
export async function planDisruptionScenario(name: string, mode: string): Promise<DisruptionReport> {
  const args = ["--disruption", "--disruption-mode", mode];
  return (await planScenarioJson("disruption", name, { args })) as DisruptionReport;
}

async function planScenarioJson(
  folder: string,
  name: string,
  { args: more = [], file = `${name}.yaml`, flagsFrom = folder }: ScenarioOptions,
): Promise<unknown> {
  const text = readScenario(folder, file);
  const flags = flagsOf(readScenario(flagsFrom, `${name}.yaml`));
  const catalogues = flags.filter((flag) => flag.startsWith("catalogues/"));
  const files = Object.fromEntries([["scenario.yaml", text], ...catalogues.map((path) => [path, readScenario(path)])]);
  const args = [
    "-f",
    "scenario.yaml",
    "--now",
    usualTime,
    "-o",
    "json",
    "--packing",
    "plain",
    "--rounds",
    "1",
    ...flags,
    ...more,
  ];
  const ran = await plan(args, { files });
  if (ran.out === "") throw new Error(`${name}: exit ${ran.code}\n${ran.err}`);
  return JSON.parse(ran.out);
}

/** The flags of a scenario, with two dashes where Go writes one. */
function flagsOf(text: string): readonly string[] {
  return flagsIn(text).map((word) => (/^-[a-z]/.test(word) ? `-${word}` : word));
}
