import { Command } from "commander";
import { choiceOption } from "./common-options.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import type { Connect } from "./live-cluster.ts";
import { fileRequestOf, type PlanningOptions, withPlanningOptions } from "./planning-options.ts";
import { type TopSortKey, topSortKeys } from "./top/sort-rows.ts";
import type { Terminal } from "./top/terminal.ts";

interface TopOptions extends PlanningOptions {
  readonly output: "table" | "json";
  readonly sort: TopSortKey;
  readonly spotToSpot?: boolean;
  readonly once?: boolean;
}

/** What the command uses besides files; tests replace it. */
export interface TopCommandTools {
  readonly connect?: Connect | undefined;
  /** The terminal to draw on; that of the process unless given. */
  readonly terminal?: Terminal | undefined;
}

const details = `
Shows the nodes of the cluster of the current context, of --kubeconfig and --context, or of files: what their pods request
of what they have, number of pods, age, price, and why each stays or would go (as plan --disruption decides it, from the
objects alone). In a terminal a cluster is shown live: it is drawn again as watches bring changes; q or Ctrl-C quits, j, k,
arrows and page keys scroll, and the letters at the bottom sort. Nodes need not be Karpenter's: prices are those of their instance type, zone and capacity type, where the
type is known.

Exit codes: 0 shown, 1 the input is invalid or the cluster could not be read, 2 the command line is wrong.

Examples:
  karpenter top
  karpenter top --context prod --sort price
  karpenter top -f karpenter-snapshot.json.gz
  karpenter top -o json`;

/** `karpenter top`: the nodes, how full they are, what they cost and why they stay. (docs/designs/commands.md) */
export function topCommand(io: Io, tools: TopCommandTools = {}): Command {
  const command = withIo(new Command("top"), io)
    .summary("show the nodes of a cluster: use, price, and why each stays")
    .description(
      "Show the nodes of a cluster: what is requested of them, what they cost, and why each stays or would go.",
    );
  return withPlanningOptions(command)
    .addOption(choiceOption("-o, --output <format>", "what to print", ["table", "json"]))
    .addOption(choiceOption("--sort <key>", "order of the nodes", topSortKeys))
    .option("--once", "print a table and end, also in a terminal")
    .option("--spot-to-spot", "the feature gate SpotToSpotConsolidation")
    .addHelpText("after", details)
    .action((options: TopOptions, self: Command) => runTop(options, { io, tools, self }));
}

/** Modules are imported here, so that `--help` of any command starts quickly. */
async function runTop(
  options: TopOptions,
  { io, tools, self }: { io: Io; tools: TopCommandTools; self: Command },
): Promise<void> {
  const { filename = [], kustomize = [], kubeconfig, context, output, sort } = options;
  const { once = false, spotToSpot = false } = options;
  const isCluster = kubeconfig !== undefined || context !== undefined;
  const isOfFiles = filename.length + kustomize.length > 0;
  if (isOfFiles && isCluster) {
    return self.error("error: -f and -k show files, --kubeconfig and --context a cluster; choose one of them", {
      exitCode: exitCodes.usage,
    });
  }
  const [{ showTopOfCluster, printTopOfFiles }, { systemTerminal }] = await Promise.all([
    import("./top/run-top.ts"),
    import("./top/terminal.ts"),
  ]);
  const choices = { output, sort, spotToSpot };
  const request = fileRequestOf(options);
  if (isOfFiles) return printTopOfFiles(request, choices, io);
  const isLive = io.isTty && !once && output === "table" && options.now === undefined;
  const terminal = isLive ? (tools.terminal ?? systemTerminal()) : undefined;
  return showTopOfCluster({ kubeconfig, context, connect: tools.connect }, request, choices, { io, terminal });
}
