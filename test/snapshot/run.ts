import { Command, CommanderError } from "commander";
import type { Connect } from "../../src/cli/live-cluster.ts";
import type { PlanReport } from "../../src/cli/plan/plan-report.ts";
import { planCommand } from "../../src/cli/plan-command.ts";
import { snapshotCommand } from "../../src/cli/snapshot-command.ts";
import { type FakeFile, type FakeWorld, fakeIo } from "../conversion/fake-io.ts";

export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  /** What a file holds afterwards. */
  readonly file: (path: string) => Promise<FakeFile>;
}

export interface World extends FakeWorld {
  readonly connect?: Connect;
}

const nowMs = Date.parse("2026-01-15T12:00:00Z");

/** One command line of `plan` or `snapshot`, in this process. */
export async function run(args: readonly string[], { connect, ...world }: World = {}): Promise<Ran> {
  const io = fakeIo(world);
  const tools = { ...(connect && { connect }), now: () => nowMs, randomSalt: () => "salt" };
  const program = new Command("karpenter").addCommand(planCommand(io, tools)).addCommand(snapshotCommand(io, tools));
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  const file = async (path: string) => ({ bytes: await io.readFile(path, 2 ** 30) });
  return { out: io.out(), err: io.err(), code: io.code() ?? 0, file };
}

/** The snapshot of a cluster. */
export async function snapshotOf(connect: Connect, ...args: readonly string[]): Promise<FakeFile> {
  const ran = await run(["snapshot", "-o", "it.json.gz", ...args], { connect });
  if (ran.code !== 0) throw new Error(`exit ${ran.code}\n${ran.err}`);
  return ran.file("it.json.gz");
}

/** The plan as JSON has it. */
export async function planned(args: readonly string[], world: World): Promise<PlanReport> {
  const ran = await run(["plan", "-o", "json", ...args], world);
  if (ran.out === "") throw new Error(`exit ${ran.code}\n${ran.err}`);
  return JSON.parse(ran.out) as PlanReport;
}
