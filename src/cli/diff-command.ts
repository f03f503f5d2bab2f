import { Command, InvalidArgumentError, Option } from "commander";
import { choiceOption, collectValues } from "./common-options.ts";
import { type DeleteReference, parseDeleteReference } from "./diff/delete-reference.ts";
import { exitCodes, type Io, withIo } from "./io.ts";
import type { Connect } from "./live-cluster.ts";
import { fileRequestOf, type PlanningOptions, withPlanningOptions } from "./planning-options.ts";

interface DiffOptions extends PlanningOptions {
  readonly base?: readonly string[];
  readonly delete?: readonly DeleteReference[];
  readonly output: "table" | "json";
  readonly exitCode?: boolean;
}

const details = `
Plans twice, with and without the change, and shows what is different: nodes that come, go or drift, pods that move or find no
node, limits, notes, and the price before and after. The base is the cluster of the current context, of --kubeconfig and
--context, or the files and snapshots of --base. Objects of the change replace those of the same kind and name.

A NodePool or EC2NodeClass whose template changes makes its nodes drift; they are planned as replaced, unless a pod or a
budget keeps them. Pods of a workload that is only scaled stay where they are.

Exit codes: 0 compared, 1 the input is invalid, 2 the command line is wrong, 3 a pod that could be scheduled no longer can,
or one of the change cannot. With --exit-code, 4 if anything is different. (kubectl diff says that with 1; here 1 is invalid
input for every command.)

Examples:
  karpenter diff -f nodepool.yaml
  karpenter diff -f deployment.yaml --base manifests/ -o json
  karpenter diff --delete nodepool/old --base karpenter-snapshot.json.gz
  karpenter diff -f new-pool.yaml --delete nodepool/old --context prod --exit-code`;

/** `karpenter diff`: what a change of manifests does to nodes, pods and price. (docs/designs/commands.md) */
export function diffCommand(io: Io, { connect }: { readonly connect?: Connect } = {}): Command {
  const command = withIo(new Command("diff"), io)
    .summary("show what a change does to nodes, pods and price")
    .description("Compare the plan with and without a change: nodes, pods, limits and price.");
  return withPlanningOptions(command, { files: "the change: " })
    .addOption(
      new Option("--base <path>", "what to change: file, directory or snapshot (default: the cluster)").argParser(
        collectValues,
      ),
    )
    .addOption(
      new Option("--delete <object>", "delete KIND/NAME or KIND/NAMESPACE/NAME; may be repeated").argParser(
        collectReferences,
      ),
    )
    .addOption(choiceOption("-o, --output <format>", "what to print", ["table", "json"]))
    .option("--exit-code", "exit with 4 if anything is different")
    .addHelpText("after", details)
    .action((options: DiffOptions, self: Command) => runDiffCommand(options, { io, connect, self }));
}

function collectReferences(text: string, others: readonly DeleteReference[] = []): readonly DeleteReference[] {
  const found = parseDeleteReference(text);
  if (found === undefined) {
    throw new InvalidArgumentError("Expected KIND/NAME or KIND/NAMESPACE/NAME, such as nodepool/default.");
  }
  return [...others, found];
}

/** Modules are imported here, so that `--help` of any command starts quickly. */
async function runDiffCommand(
  options: DiffOptions,
  { io, connect, self }: { io: Io; connect: Connect | undefined; self: Command },
): Promise<void> {
  const { base = [], delete: deleted = [], output, exitCode = false, kubeconfig, context } = options;
  const { filename = [], kustomize = [] } = options;
  const refuse = (why: string): never => self.error(`error: ${why}`, { exitCode: exitCodes.usage });
  if (filename.length + kustomize.length + deleted.length === 0) {
    return refuse("no change: give files to apply with -f or -k, or objects to delete with --delete KIND/NAME");
  }
  const namesCluster = kubeconfig !== undefined || context !== undefined;
  if (base.length > 0 && namesCluster)
    return refuse("--base compares with files, --context with a cluster; choose one");
  if (base.includes("-") && filename.includes("-")) return refuse("standard input is either the base or the change");
  const live = base.length > 0 ? undefined : { kubeconfig, context, connect };
  const { runDiff } = await import("./diff/run-diff.ts");
  await runDiff({ request: { ...fileRequestOf(options), live }, base, deleted, output, exitCode }, io);
}
