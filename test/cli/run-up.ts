import { Command } from "commander";
import { upCommand } from "../../src/cli/up-command.ts";
import type { FakeIo } from "../conversion/fake-io.ts";

/**
 * Runs `karpenter up`; `meanwhile` happens between its start and its end. What fails there fails the test: the command itself
 * would only report it and stop.
 */
export async function runUp(
  io: FakeIo,
  args: readonly string[],
  meanwhile: () => Promise<void> = async () => {},
): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  const untilStopped = () =>
    meanwhile().catch((error: unknown) => {
      failure = { error };
    });
  const command = new Command("karpenter").addCommand(upCommand(io, { untilStopped, version: "0.0.0" }));
  await command.parseAsync(["up", ...args], { from: "user" });
  if (failure !== undefined) throw failure.error;
}
