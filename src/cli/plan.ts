import { Command, InvalidArgumentError, Option } from "commander";
import { clusterChoice, withClusterOptions } from "./cluster-options.ts";
import { exitCodes, type Io, onIo } from "./io.ts";
import type { ClusterChoice, Connect } from "./live.ts";
import type { PlanProvider } from "./plan/catalogue.ts";
import type { PlanOutput } from "./plan/render.ts";

interface PlanOptions extends ClusterChoice {
  readonly filename?: readonly string[];
  readonly recursive?: boolean;
  readonly provider?: PlanProvider;
  readonly region?: string;
  readonly instanceTypes?: string;
  readonly preferences: "Respect" | "Ignore";
  readonly minValues: "Strict" | "BestEffort";
  readonly output: PlanOutput;
  readonly seed: number;
  readonly now?: number;
}

const details = `
Reads Pods, Deployments, ReplicaSets, StatefulSets, Jobs, CronJobs and DaemonSets, NodePools, node classes, NodeOverlays
and CapacityBuffers, and what else bears on scheduling: Namespaces, PersistentVolumeClaims, PersistentVolumes,
StorageClasses, CSINodes, PodDisruptionBudgets, PriorityClasses. Nodes, NodeClaims and pods with a nodeName are the
cluster as it is. What a cluster would fill in may be left out. A file may be a snapshot, and manifests beside it, or
beside a live cluster, take the place of what it has of the same name. Without --kubeconfig and --context nothing leaves
this machine.

Exit codes: 0 every pod has a place, 1 the input is bad, 2 the command line is wrong, 3 some pod has no place.

Examples:
  karpenter plan -f deployment.yaml
  karpenter plan -f manifests/ -f nodepool.yaml --provider aws --region us-east-1 -o wide
  kubectl get nodes,nodeclaims,nodepools,pods -A -o yaml | karpenter plan -f - -o json
  karpenter plan -f deployment.yaml --instance-types fake:400 -o nodeclaims
  karpenter plan --context prod -f new-nodepool.yaml`;

/** `karpenter plan`: which nodes these workloads would get. (issue 4) */
export function planCommand(io: Io, { connect }: { readonly connect?: Connect } = {}): Command {
  const command = onIo(new Command("plan"), io)
    .summary("show which nodes manifests would get, and for how much")
    .description("Plan nodes for the pods of manifests: types, zones, prices, and what cannot be placed and why.")
    .addOption(
      new Option("-f, --filename <path>", "file, directory, or - for standard input; may be repeated").argParser(
        gather,
      ),
    )
    .option("-R, --recursive", "look into the directories of directories too");
  return withClusterOptions(command, { purpose: "start from a live cluster" })
    .addOption(choice("--provider <name>", "whose machines; by the pools' node classes unless said", ["kwok", "aws"]))
    .option("--region <name>", "region whose EC2 types and prices are used")
    .option("--instance-types <what>", "kwok, fake:N, or a file in the KWOK format; the provider's own unless said")
    .addOption(choice("--preferences <policy>", "whether preferences of pods count", ["Respect", "Ignore"]))
    .addOption(choice("--min-values <policy>", "whether minValues must be met", ["Strict", "BestEffort"]))
    .addOption(choice("--packing <how>", "as the controller packs in one round", ["plain"]))
    .addOption(choice("-o, --output <format>", "what to print", ["table", "wide", "json", "yaml", "nodeclaims"]))
    .addOption(new Option("--seed <number>", "decides between equals").argParser(wholeNumber).default(0))
    .addOption(new Option("--now <time>", "the time to plan at, RFC 3339; the clock's unless said").argParser(instant))
    .addOption(new Option("--spot-to-spot", "of the disruption commands; changes no plan").hideHelp())
    .addOption(new Option("--nominated <nodes>", "of the disruption commands; changes no plan").hideHelp())
    .addHelpText("after", details)
    .action((options: PlanOptions, self: Command) => plan(options, { io, connect, self }));
}

/** An option with a closed set of values; the first is the default, except where leaving it out means something. */
function choice(flags: string, description: string, values: readonly string[]): Option {
  const option = new Option(flags, description).choices(values);
  return flags.startsWith("--provider") ? option : option.default(values[0]);
}

function gather(path: string, paths: readonly string[] = []): readonly string[] {
  return [...paths, path];
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

interface World {
  readonly io: Io;
  readonly connect: Connect | undefined;
  readonly self: Command;
}

/** Loaded only now, so that `--help` of any command stays quick. */
async function plan(options: PlanOptions, { io, connect, self }: World): Promise<void> {
  const { filename = [], recursive = false, now, ...rest } = options;
  const chosen = clusterChoice(options);
  const live = chosen && { ...chosen, connect };
  if (filename.length === 0 && live === undefined) {
    self.error("error: nothing to plan: name files with -f, or a cluster with --kubeconfig or --context", {
      exitCode: exitCodes.usage,
    });
  }
  const [{ makePlan }, { reportOf }, { render }, { reportFindings }] = await Promise.all([
    import("./plan/make-plan.ts"),
    import("./plan/report.ts"),
    import("./plan/render.ts"),
    import("./problems.ts"),
  ]);
  const outcome = await makePlan({ ...rest, paths: filename, recursive, live, nowMs: now }, io);
  const errors = reportFindings(outcome.findings, io);
  if (outcome.kind === "no-catalogue") {
    io.stderr(`error: ${outcome.because}\n`);
    io.exit(outcome.refused === "usage" ? exitCodes.usage : exitCodes.badInput);
    return;
  }
  if (outcome.kind === "bad-input") {
    io.stderr(`${errors} ${errors === 1 ? "error" : "errors"}; nothing was planned\n`);
    io.exit(exitCodes.badInput);
    return;
  }
  const report = reportOf(outcome.plan);
  const color = io.isTty && (io.env["NO_COLOR"] ?? "") === "";
  io.stdout(render(outcome.plan, report, { output: options.output, color }));
  if (options.output === "nodeclaims") tellBesides(report, io);
  if (report.refusals.length > 0) io.exit(exitCodes.unplaced);
}

/** What claims cannot say goes to standard error. */
function tellBesides(
  report: { refusals: readonly { pod: string; message: string }[]; notes: readonly string[] },
  io: Io,
): void {
  for (const { pod, message } of report.refusals) io.stderr(`cannot be placed: ${pod}: ${message}\n`);
  for (const note of report.notes) io.stderr(`note: ${note}\n`);
}
