import { Command, CommanderError } from "commander";
import { explainCommand } from "../../src/cli/explain-command.ts";
import { type FakeWorld, fakeIo } from "../conversion/fake-io.ts";

/** What a command said. */
export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** The command a user would run, in this process. */
export async function explain(args: readonly string[], world: FakeWorld = {}): Promise<Ran> {
  const io = fakeIo(world);
  try {
    await new Command("karpenter").addCommand(explainCommand(io)).parseAsync(["explain", ...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return { out: io.out(), err: io.err(), code: io.code() ?? 0 };
}
