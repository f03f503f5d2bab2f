import { type Command, InvalidArgumentError, Option } from "commander";
import { clusterChoice, withClusterOptions } from "../cluster-options.ts";
import { exitCodes } from "../io.ts";
import type { ClusterChoice, Connect } from "../live.ts";
import type { PlanProvider } from "../plan/catalogue.ts";
import type { PlanRequest } from "../plan/make-plan.ts";

export const explainOutputs = ["text", "json"] as const;

/** As parsed: what `plan` takes, and how to say it. */
export interface ExplainOptions extends ClusterChoice {
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly provider?: PlanProvider;
  readonly region?: string;
  readonly instanceTypes?: string;
  readonly preferences: "Respect" | "Ignore";
  readonly minValues: "Strict" | "BestEffort";
  readonly output: (typeof explainOutputs)[number];
  readonly seed: number;
  readonly now?: number;
}

/** The flags of `plan` that say what is planned, and the two outputs. */
export function withInputs(command: Command): Command {
  const files = command
    .addOption(
      new Option("-f, --filename <path>", "file, directory, or - for standard input; may be repeated").argParser(
        (path: string, paths: readonly string[] = []) => [...paths, path],
      ),
    )
    .option("-R, --recursive", "look into the directories of directories too");
  return withClusterOptions(files, { purpose: "start from a live cluster" })
    .addOption(
      new Option("--provider <name>", "whose machines; by the pools' node classes unless said").choices([
        "kwok",
        "aws",
      ]),
    )
    .option("--region <name>", "region whose EC2 types and prices are used")
    .option("--instance-types <what>", "kwok, fake:N, or a file in the KWOK format; the provider's own unless said")
    .addOption(choice("--preferences <policy>", "whether preferences of pods count", ["Respect", "Ignore"]))
    .addOption(choice("--min-values <policy>", "whether minValues must be met", ["Strict", "BestEffort"]))
    .addOption(choice("-o, --output <format>", "what to print", explainOutputs))
    .addOption(new Option("--seed <number>", "decides between equals").argParser(wholeNumber).default(0))
    .addOption(new Option("--now <time>", "the time to plan at, RFC 3339; the clock's unless said").argParser(instant));
}

/** What to plan; ends with the usage code where nothing is named. */
export function requestOf(
  { filename = [], recursive = false, now, ...options }: ExplainOptions,
  { connect, self }: { readonly connect: Connect | undefined; readonly self: Command },
): PlanRequest {
  const chosen = clusterChoice(options);
  if (filename.length === 0 && chosen === undefined) {
    self.error("error: nothing to explain: name files with -f, or a cluster with --kubeconfig or --context", {
      exitCode: exitCodes.usage,
    });
  }
  return { ...options, paths: filename, recursive, nowMs: now, live: chosen && { ...chosen, connect } };
}

/** The first value is the default. */
function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).default(values[0]);
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}

function instant(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError("expected a time like 2026-01-15T12:00:00Z");
  return time;
}
