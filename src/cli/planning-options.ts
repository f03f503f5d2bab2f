import { type Command, InvalidArgumentError, Option } from "commander";
import { clusterChoice, withClusterOptions } from "./cluster-options.ts";
import { exitCodes } from "./io.ts";
import type { ClusterChoice, Connect } from "./live-cluster.ts";
import type { PlanRequest } from "./plan/make-plan.ts";
import type { PlanProvider } from "./plan/provider-catalogue.ts";

/** As parsed: what is planned, and how. Shared by all commands that plan. */
export interface PlanningOptions extends ClusterChoice {
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly provider?: PlanProvider;
  readonly region?: string;
  readonly instanceTypes?: string;
  readonly preferences: "Respect" | "Ignore";
  readonly minValues: "Strict" | "BestEffort";
  readonly packing: "plain" | "polished";
  readonly schedulerConfig?: string;
  readonly seed: number;
  readonly now?: number;
}

export function withPlanningOptions(command: Command): Command {
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
    .addOption(choiceOption("--preferences <policy>", "whether preferences of pods count", ["Respect", "Ignore"]))
    .addOption(choiceOption("--min-values <policy>", "whether minValues must be met", ["Strict", "BestEffort"]))
    .addOption(
      choiceOption("--packing <how>", "in one round, or gone over once more for its price", ["polished", "plain"]),
    )
    .option("--scheduler-config <file>", "default topology spread constraints of the cluster")
    .addOption(new Option("--seed <number>", "decides between equals").argParser(parseWholeNumber).default(0))
    .addOption(
      new Option("--now <time>", "the time to plan at, RFC 3339; the clock's unless said").argParser(parseTimeMs),
    );
}

/** An option with a closed set of values; the first is the default. */
export function choiceOption(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).default(values[0]);
}

interface PlanRequestContext {
  readonly connect: Connect | undefined;
  readonly self: Command;
}

/** What to plan; ends with the usage code where nothing is named. */
export function planRequestOf(options: PlanningOptions, { connect, self }: PlanRequestContext): PlanRequest {
  const { filename = [], recursive = false, now, ...rest } = options;
  const chosen = clusterChoice(options);
  if (filename.length === 0 && chosen === undefined) {
    self.error(`error: nothing to ${self.name()}: name files with -f, or a cluster with --kubeconfig or --context`, {
      exitCode: exitCodes.usage,
    });
  }
  return { ...rest, paths: filename, recursive, nowMs: now, live: chosen && { ...chosen, connect } };
}

function parseWholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("expected a whole number");
  return Number(text);
}

function parseTimeMs(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError("expected a time like 2026-01-15T12:00:00Z");
  return time;
}
