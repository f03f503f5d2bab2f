import { Command, Option } from "commander";
import type { DisruptionMode } from "../core/disruption/snapshot.ts";
import { choiceOption } from "./common-options.ts";
import { exitCodes, type Io, usesColor, withIo } from "./io.ts";
import type { Connect } from "./live-cluster.ts";
import type { Plan, PlanRequest } from "./plan/make-plan.ts";
import { type PlanOutput, planOutputs } from "./plan/plan-choices.ts";
import { type PlanningOptions, planRequestOf, withPlanningOptions } from "./planning-options.ts";

interface PlanOptions extends PlanningOptions {
  readonly output: PlanOutput;
  readonly bound?: boolean;
  readonly timings?: boolean;
  readonly disruption?: boolean;
  readonly repack?: boolean;
  readonly disruptionMode: DisruptionMode;
  readonly spotToSpot?: boolean;
  readonly multiReplacement?: boolean;
  readonly nominated?: readonly string[];
}

const details = `
Reads Pods, Deployments, ReplicaSets, StatefulSets, Jobs, CronJobs and DaemonSets, and any other kind with spec.template and
spec.replicas, such as Argo Rollouts; JobSets, LeaderWorkerSets, Ray clusters, Fleets, and jobs of Volcano, Kubeflow and Spark;
HorizontalPodAutoscalers and KEDA's ScaledObjects; NodePools, node classes, NodeOverlays and CapacityBuffers; and other
objects that affect scheduling: Namespaces, PersistentVolumeClaims, PersistentVolumes, StorageClasses, CSINodes,
PodDisruptionBudgets, PriorityClasses, RuntimeClasses, LimitRanges. Nodes, NodeClaims and pods with a nodeName describe the
current cluster. Fields that a cluster would fill in may be omitted; what is assumed or ignored is said in a note. A file
may be a snapshot; manifests given with it, or with a live cluster, replace objects of the same kind and name. Without --kubeconfig and --context nothing is sent over the network.

Exit codes: 0 all pods can be scheduled, 1 the input is invalid, 2 the command line is wrong, 3 some pods cannot be
scheduled.

Examples:
  karpenter plan -f deployment.yaml
  karpenter plan -f manifests/ -f nodepool.yaml --provider aws --region us-east-1 -o wide
  kubectl get nodes,nodeclaims,nodepools,pods -A -o yaml | karpenter plan -f - -o json
  karpenter plan -f deployment.yaml --instance-types fake:400 -o nodeclaims
  karpenter plan -k overlays/prod --replicas max
  karpenter plan --context prod -f new-nodepool.yaml`;

/** `karpenter plan`: which nodes these workloads need. (docs/designs/commands.md) */
export function planCommand(io: Io, { connect }: { readonly connect?: Connect } = {}): Command {
  const command = withIo(new Command("plan"), io)
    .summary("show which nodes the manifests need, and their cost")
    .description(
      "Plan nodes for the pods of manifests: types, zones, prices, and which pods cannot be scheduled and why.",
    );
  return withPlanningOptions(command)
    .addOption(choiceOption("-o, --output <format>", "what to print", planOutputs))
    .option("--bound", "compute a lower bound on the cost with a linear program")
    .option("--timings", "with -o json or yaml: how long planning took, and its memory")
    .option("--disruption", "show which nodes would be disrupted now and why the others stay")
    .option("--repack", "pack the whole cluster anew, and show the commands that lead there")
    .addOption(
      choiceOption("--disruption-mode <mode>", "with --disruption: upstream keeps to Karpenter's search", [
        "default",
        "upstream",
      ]),
    )
    .option("--spot-to-spot", "with --disruption or --repack: the feature gate SpotToSpotConsolidation")
    .option("--multi-replacement", "with --disruption: the feature gate MultiReplacement")
    .addOption(
      new Option("--nominated <nodes>", "with --disruption: nodes that pending pods were just nominated to").argParser(
        (names: string) => names.split(","),
      ),
    )
    .addHelpText("after", details)
    .action((options: PlanOptions, self: Command) => runPlan(options, { io, connect, self }));
}

/** Modules are imported here, so that `--help` of any command starts quickly. */
async function runPlan(
  options: PlanOptions,
  { io, connect, self }: { io: Io; connect: Connect | undefined; self: Command },
): Promise<void> {
  const request = planRequestOf(options, { connect, self });
  if (options.repack === true) return runRepackPlan(options, { request, io, self });
  if (options.disruption === true) return runDisruptionPlan(options, { request, io, self });
  const [{ planOrReport }, { planReportOf }, { renderPlan }] = await Promise.all([
    import("./plan/plan-or-report.ts"),
    import("./plan/plan-report.ts"),
    import("./plan/render-plan.ts"),
  ]);
  const plan = await planOrReport(request, io);
  if (plan === undefined) return;
  const lowerBound = options.bound === true ? await lowerBoundCost(plan) : undefined;
  const report = planReportOf(plan, { lowerBound, includesTimings: options.timings });
  io.stdout(renderPlan(plan, report, { output: options.output, color: usesColor(io) }));
  if (options.output === "nodeclaims") reportRefusalsAndNotes(report, io);
  if (report.refusals.length > 0) io.exit(exitCodes.unschedulable);
}

/** What each disruption method would do now. */
async function runDisruptionPlan(
  { output, disruptionMode, spotToSpot = false, multiReplacement = false, nominated = [] }: PlanOptions,
  { request, io, self }: { readonly request: PlanRequest; readonly io: Io; readonly self: Command },
): Promise<void> {
  if (output === "nodeclaims") {
    return self.error("error: -o nodeclaims cannot be combined with --disruption; use -o json or -o yaml", {
      exitCode: exitCodes.usage,
    });
  }
  const [{ makeDisruptionPlan }, { disruptionReportOf }, { renderDisruption }, { planOf }] = await Promise.all([
    import("./plan/make-disruption-plan.ts"),
    import("./plan/disruption-report.ts"),
    import("./plan/render-disruption.ts"),
    import("./plan/plan-or-report.ts"),
  ]);
  const disruptionRequest = {
    ...request,
    mode: disruptionMode,
    allowsSpotToSpot: spotToSpot,
    allowsMultiReplacement: multiReplacement,
    nominated,
  };
  const plan = planOf(await makeDisruptionPlan(disruptionRequest, io), io);
  if (plan !== undefined) io.stdout(renderDisruption(disruptionReportOf(plan), { output, color: usesColor(io) }));
}

/** The cluster packed anew, and the commands that lead there. */
async function runRepackPlan(
  { output, disruption, disruptionMode, multiReplacement, nominated, spotToSpot = false }: PlanOptions,
  { request, io, self }: { readonly request: PlanRequest; readonly io: Io; readonly self: Command },
): Promise<void> {
  const refuse = (option: string, why: string): never =>
    self.error(`error: ${option} cannot be combined with --repack; ${why}`, { exitCode: exitCodes.usage });
  if (output === "nodeclaims") return refuse("-o nodeclaims", "use -o json or -o yaml");
  if (disruption === true) return refuse("--disruption", "choose one of them");
  if (disruptionMode === "upstream")
    return refuse("--disruption-mode upstream", "it replaces several nodes by several");
  if (multiReplacement === true) return refuse("--multi-replacement", "it always replaces several nodes by several");
  if (nominated !== undefined) return refuse("--nominated", "pods that wait are placed first");
  const [{ makeRepackPlan }, { repackReportOf }, { renderRepack }, { planOf }] = await Promise.all([
    import("./plan/make-repack-plan.ts"),
    import("./plan/repack-report.ts"),
    import("./plan/render-repack.ts"),
    import("./plan/plan-or-report.ts"),
  ]);
  const plan = planOf(await makeRepackPlan({ ...request, allowsSpotToSpot: spotToSpot }, io), io);
  if (plan === undefined) return;
  const report = repackReportOf(plan);
  io.stdout(renderRepack(report, { output, color: usesColor(io) }));
  if (report.provisioning.unschedulable.length > 0) io.exit(exitCodes.unschedulable);
}

/** The solver is a megabyte of WebAssembly, so it is imported only for --bound. */
async function lowerBoundCost({ scenario: { problem }, decision }: Plan): Promise<number> {
  const [{ lowerBound }, { lpSolver }] = await Promise.all([
    import("../core/bound/lower-bound.ts"),
    import("./lp-solver.ts"),
  ]);
  const pods = decision.newNodes.flatMap((node) => node.pods);
  return lowerBound(problem, { solveLp: await lpSolver(), pods });
}

/** With `-o nodeclaims` standard output has only manifests; the rest goes to standard error. */
function reportRefusalsAndNotes(
  report: { refusals: readonly { pod: string; message: string }[]; notes: readonly string[] },
  io: Io,
): void {
  for (const { pod, message } of report.refusals) io.stderr(`cannot be scheduled: ${pod}: ${message}\n`);
  for (const note of report.notes) io.stderr(`note: ${note}\n`);
}
