import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { awsCommand } from "./aws-command.ts";
import { runComplete } from "./completion/run-complete.ts";
import { completeRequest } from "./completion/scripts.ts";
import { completionCommand } from "./completion-command.ts";
import { convertCommand } from "./convert-command.ts";
import { crdsCommand } from "./crds-command.ts";
import { diffCommand } from "./diff-command.ts";
import { explainCommand } from "./explain-command.ts";
import { instanceTypesCommand } from "./instance-types-command.ts";
import { exitCodes, type Io, systemIo, withIo } from "./io.ts";
import { planCommand } from "./plan-command.ts";
import { runCommand } from "./run-command.ts";
import { snapshotCommand } from "./snapshot-command.ts";
import { withSuggestions } from "./suggestions.ts";
import { topCommand } from "./top-command.ts";
import { upCommand } from "./up-command.ts";
import { welcomeText } from "./welcome-text.ts";

const details = `
Exit codes: 0 done, 1 the input is invalid or the output cannot be written, 2 the command line is wrong, 3 a pod cannot
be scheduled; see the --help of each command.`;

/** The command line as a whole. */
export function program(io: Io): Command {
  const root = withIo(new Command("karpenter"), io)
    .description("Karpenter, the Kubernetes node autoscaler.")
    .version(version(), "-V, --version")
    .addCommand(upCommand(io, { version: version() }))
    .addCommand(runCommand(io, { version: version() }))
    .addCommand(convertCommand(io))
    .addCommand(planCommand(io))
    .addCommand(diffCommand(io))
    .addCommand(explainCommand(io))
    .addCommand(topCommand(io))
    .addCommand(snapshotCommand(io))
    .addCommand(crdsCommand(io))
    .addCommand(instanceTypesCommand(io))
    .addCommand(awsCommand(io))
    .addCommand(completionCommand(io))
    .addHelpText("after", details)
    .action(() => io.stdout(welcomeText(version())));
  return withSuggestions(root);
}

/** Runs one command line and returns the exit code. */
export async function main(args: readonly string[], io: Io = systemIo()): Promise<number> {
  let code: number = exitCodes.ok;
  const exit = (next: number): void => {
    code = Math.max(code, next);
  };
  try {
    const root = program({ ...io, exit });
    // Not a command of its own: what follows is a command line in the making, with options of other commands.
    if (args[0] === completeRequest) await runComplete(root, args.slice(1), io);
    else await root.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error; // commander has already printed what is wrong
  }
  const problem = await io.outputProblem();
  if (problem !== undefined) {
    io.stderr(`error: ${problem}\n`);
    exit(exitCodes.badInput);
  }
  return code;
}

/** The version of the package. */
function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
