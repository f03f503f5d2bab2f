import { Command, Option } from "commander";
import { exitCodes, type Io, withIo } from "./io.ts";
import type { Connect } from "./live-cluster.ts";
import type { Plan } from "./plan/make-plan.ts";
import type { PlanOutput } from "./plan/render-plan.ts";
import { choiceOption, type PlanningOptions, planRequestOf, withPlanningOptions } from "./planning-options.ts";

interface PlanOptions extends PlanningOptions {
  readonly output: PlanOutput;
  readonly bound?: boolean;
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

/** `karpenter plan`: which nodes these workloads would get. (docs/designs/commands.md) */
export function planCommand(io: Io, { connect }: { readonly connect?: Connect } = {}): Command {
  const command = withIo(new Command("plan"), io)
    .summary("show which nodes manifests would get, and for how much")
    .description("Plan nodes for the pods of manifests: types, zones, prices, and what cannot be placed and why.");
  return withPlanningOptions(command)
    .addOption(choiceOption("-o, --output <format>", "what to print", ["table", "wide", "json", "yaml", "nodeclaims"]))
    .option("--bound", "work out the least any plan could cost, by a linear program")
    .addOption(new Option("--spot-to-spot", "of the disruption commands; changes no plan").hideHelp())
    .addOption(new Option("--nominated <nodes>", "of the disruption commands; changes no plan").hideHelp())
    .addHelpText("after", details)
    .action((options: PlanOptions, self: Command) => runPlan(options, { io, connect, self }));
}

interface PlanCommandContext {
  readonly io: Io;
  readonly connect: Connect | undefined;
  readonly self: Command;
}

/** Loaded only now, so that `--help` of any command stays quick. */
async function runPlan(options: PlanOptions, { io, connect, self }: PlanCommandContext): Promise<void> {
  const request = planRequestOf(options, { connect, self });
  const [{ makePlan }, { planReportOf }, { renderPlan }, { reportFindings }] = await Promise.all([
    import("./plan/make-plan.ts"),
    import("./plan/plan-report.ts"),
    import("./plan/render-plan.ts"),
    import("./report-findings.ts"),
  ]);
  const outcome = await makePlan(request, io);
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
  const least = options.bound === true ? await lowerBoundCost(outcome.plan) : undefined;
  const report = planReportOf(outcome.plan, least);
  const color = io.isTty && (io.env["NO_COLOR"] ?? "") === "";
  io.stdout(renderPlan(outcome.plan, report, { output: options.output, color }));
  if (options.output === "nodeclaims") reportRefusalsAndNotes(report, io);
  if (report.refusals.length > 0) io.exit(exitCodes.unplaced);
}

/** The linear program needs a solver of a megabyte: loaded for those who ask. */
async function lowerBoundCost({ scenario: { problem }, decision }: Plan): Promise<number> {
  const [{ lowerBound }, { lpSolver }] = await Promise.all([
    import("../core/bound/lower-bound.ts"),
    import("./lp-solver.ts"),
  ]);
  const pods = decision.newNodes.flatMap((node) => node.pods);
  return lowerBound(problem, { solveLp: await lpSolver(), pods });
}

/** What claims cannot say goes to standard error. */
function reportRefusalsAndNotes(
  report: { refusals: readonly { pod: string; message: string }[]; notes: readonly string[] },
  io: Io,
): void {
  for (const { pod, message } of report.refusals) io.stderr(`cannot be placed: ${pod}: ${message}\n`);
  for (const note of report.notes) io.stderr(`note: ${note}\n`);
}
