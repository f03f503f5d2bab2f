import { type Command, InvalidArgumentError, Option } from "commander";
import { clusterChoice, withClusterOptions } from "./cluster-options.ts";
import { choiceOption, collectValues, pricesOption, wholeNumberUpTo, withFileOptions } from "./common-options.ts";
import { exitCodes } from "./io.ts";
import type { ClusterChoice, Connect } from "./live-cluster.ts";
import type { PlanRequest } from "./plan/make-plan.ts";
import { maxPlannedRounds, planProviders, replicaChoices } from "./plan/plan-choices.ts";

/** The parsed options of all commands that make a plan. */
export interface PlanningOptions
  extends ClusterChoice,
    Omit<PlanRequest, "paths" | "recursive" | "nowMs" | "live" | "input"> {
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly now?: number;
}

export function withPlanningOptions(command: Command, { files = "" }: { readonly files?: string } = {}): Command {
  withFileOptions(command, {
    description: `${files}file, directory, or - for standard input; may be repeated`,
  }).addOption(
    new Option("-k, --kustomize <dir>", `${files}kustomize folder, rendered by kubectl; may be repeated`).argParser(
      collectValues,
    ),
  );
  return withClusterOptions(command, { purpose: "start from a live cluster" })
    .addOption(
      new Option(
        "--provider <name>",
        "plan with this cloud provider only (default: those of the node classes)",
      ).choices(planProviders),
    )
    .option(
      "--region <name>",
      "region whose EC2 types and prices are used (default: read from zones, nodes and node classes)",
    )
    .addOption(pricesOption())
    .option("--instance-types <what>", "kwok, fake:N, or a file in the KWOK format (default: the provider's)")
    .addOption(choiceOption("--preferences <policy>", "whether pod preferences are respected", ["Respect", "Ignore"]))
    .addOption(choiceOption("--min-values <policy>", "whether minValues must be met", ["Strict", "BestEffort"]))
    .addOption(
      choiceOption("--packing <how>", "plain: one pass; polished: pods are then moved to lower the price", [
        "polished",
        "plain",
      ]),
    )
    .addOption(choiceOption("--ignore-dra-requests <b>", "refuse pods with resource claims", ["true", "false"]))
    .addOption(choiceOption("--replicas <which>", "pods of workloads with an autoscaler", replicaChoices))
    .option("--scheduler-config <file>", "default topology spread constraints of the cluster")
    .addOption(
      new Option("--seed <number>", "seed for tie-breaking").argParser(wholeNumberUpTo(999_999_999_999_999)).default(0),
    )
    .addOption(
      new Option("--rounds <number>", "most rounds to plan; 1: a single pass, limits reckoned with the largest types")
        .argParser(wholeNumberUpTo(maxPlannedRounds, { from: 1 }))
        .default(maxPlannedRounds),
    )
    .addOption(new Option("--now <time>", "time to plan at, RFC 3339 (default: now)").argParser(parseTimeMs));
}

/** What to plan. If neither files nor a cluster are given: the cluster of the current context, or an exit with the usage code. */
export function planRequestOf(
  options: PlanningOptions,
  {
    connect,
    self,
    otherwise = "exit",
  }: { connect: Connect | undefined; self: Command; otherwise?: "exit" | "current-context" },
): PlanRequest {
  const request = fileRequestOf(options);
  const hasFiles = request.paths.length + (request.kustomize ?? []).length > 0;
  const chosen = clusterChoice(options) ?? (hasFiles || otherwise === "exit" ? undefined : {});
  if (!hasFiles && chosen === undefined) {
    self.error("error: no input: give files with -f, or a cluster with --kubeconfig or --context", {
      exitCode: exitCodes.usage,
    });
  }
  return { ...request, live: chosen && { ...chosen, connect } };
}

/** What to plan of files alone. */
export function fileRequestOf({ filename = [], recursive = false, now, ...rest }: PlanningOptions): PlanRequest {
  return { ...rest, paths: filename, recursive, nowMs: now };
}

function parseTimeMs(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError("Expected a time such as 2026-01-15T12:00:00Z.");
  return time;
}
