import { type KubeObject, namespacedName } from "../../api/object.ts";
import { withCommands } from "../../core/explain/commands/suggestion-commands.ts";
import type { FindObject } from "../../core/explain/commands/template-owner.ts";
import type { DisruptionExplanation } from "../../core/explain/explain-disruption.ts";
import { explainPod } from "../../core/explain/explain-pod.ts";
import type { Explanation } from "../../core/explain/explanation.ts";
import { refusedPodKeys } from "../../core/explain/simulation.ts";
import { otherPoolDrafts, unusablePoolFindings } from "../../core/explain/unusable-pools.ts";
import { type NotPendingPod, notPendingPod } from "../../core/explain/why-not-pending.ts";
import { nodeClassesOf } from "../../core/scenario/node-classes.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { decidingRound } from "../../state/plan-rounds.ts";
import { exitCodes, type Io, usesColor } from "../io.ts";
import { type Plan, type PlanRequest, preparePlan } from "../plan/make-plan.ts";
import { planNotes } from "../plan/notes.ts";
import { planOf, planOrReport } from "../plan/plan-or-report.ts";
import { oneLine } from "../text-table.ts";
import { askController, type ControllerAnswer } from "./ask-controller.ts";
import { type ChosenPod, choosePod, closestText, type ExplainTarget, explainTarget } from "./explain-target.ts";
import { explainPreparedNode, nodeReport } from "./explained-node.ts";
import { openLiveCluster, readOwnership } from "./live-objects.ts";
import { findAmong, readEditedObjects } from "./owner-objects.ts";
import { renderNode } from "./render-node.ts";
import { renderPod } from "./render-pod.ts";

export interface ExplainRequest {
  readonly request: PlanRequest;
  readonly output: "text" | "json";
  readonly io: Io;
  /** Of nodes: the feature gate SpotToSpotConsolidation. */
  readonly spotToSpot: boolean;
  /** Of nodes: the feature gate MultiReplacement. */
  readonly multiReplacement: boolean;
  readonly controller?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Explains one pod, or a pending pod of something that makes pods, and sets the exit code. */
export async function runExplainPod(kind: string, name: string, explainRequest: ExplainRequest): Promise<void> {
  const { request, io } = explainRequest;
  const isLive = isClusterAlone(request);
  const live = isLive ? await chooseLivePod(kind, name, explainRequest) : undefined;
  if (live !== undefined && "because" in live) return reportChoice(live, explainRequest);
  const answer = live && (await answerOf(podPath(live.key), explainRequest));
  if (answer?.kind === "not-found") return reportFailure(`there is no pod ${live?.key} in the cluster`, io);
  if (answer?.kind === "answered") {
    const explanation = answer.explanation as Explanation | NotPendingPod;
    const notes = [...(live?.notes ?? []), sourceNote(answer)];
    return printPod(await complete(explanation, explainRequest, () => undefined), { ...explainRequest, notes });
  }
  const plan = await planOrReport(request, io);
  if (plan === undefined) return;
  const find = findAmong(plan.objects, plan.workloads);
  const chosen =
    live ??
    chooseOf(plan, explainTarget(kind, name, { namespace: explainRequest.namespace, fallback: "default" }), find);
  if ("because" in chosen) return reportChoice(chosen, explainRequest);
  const explanation = podExplanation(chosen.key, plan);
  if (explanation === undefined) return reportFailure(`there is no pod ${chosen.key} in the input`, io);
  const source = [...chosen.notes, ...(answer === undefined ? [] : [sourceNote(answer)])];
  const notes = isNotPending(explanation) ? source : [...planNotes(plan), ...source];
  printPod(await complete(explanation, explainRequest, find), { ...explainRequest, notes });
}

/** Whether nothing but a live cluster is the input. */
function isClusterAlone({ live, paths, kustomize = [] }: PlanRequest): boolean {
  return live !== undefined && paths.length + kustomize.length === 0;
}

/** Undefined where the cluster cannot be read: reading it for a plan says why. */
async function chooseLivePod(
  kind: string,
  name: string,
  { request, io, namespace }: ExplainRequest,
): Promise<ChosenPod | undefined> {
  try {
    const cluster = await openLiveCluster(request.live ?? {}, io);
    try {
      const target = explainTarget(kind, name, { namespace, fallback: cluster.namespace ?? "default" });
      const { pods, owners } = await readOwnership(target, cluster);
      return choosePod(target, { pods, find: findAmong(owners) });
    } finally {
      cluster.close();
    }
  } catch {
    return undefined;
  }
}

function chooseOf(plan: Plan, target: ExplainTarget, find: FindObject): ChosenPod {
  const refused = new Set([
    ...refusedPodKeys(plan.decision),
    ...plan.scenario.ignored.map(({ pod }) => namespacedName(pod.metadata)),
  ]);
  const pods = plan.objects.filter(({ kind }) => kind === "Pod");
  return choosePod(target, { pods, find, isRefused: (key) => refused.has(key) });
}

/** Adds the commands of suggestions. A live cluster is asked for the objects as they are, of a file they are known. */
async function complete(
  explanation: Explanation | NotPendingPod,
  { request, io }: ExplainRequest,
  find: FindObject,
): Promise<Explanation | NotPendingPod> {
  if (isNotPending(explanation)) return explanation;
  const edits = [...explanation.suggestions, ...(explanation.lastResorts ?? [])].flatMap((one) => one.edits);
  if (edits.length === 0) return explanation;
  const live = request.live === undefined ? [] : await liveObjects();
  const findLive = findAmong(live);
  return withCommands(
    explanation,
    (reference) => (isClusterAlone(request) ? findLive(reference) : undefined) ?? find(reference),
  );

  async function liveObjects(): Promise<readonly KubeObject[]> {
    try {
      const cluster = await openLiveCluster(request.live ?? {}, io);
      try {
        return await readEditedObjects(edits, cluster);
      } finally {
        cluster.close();
      }
    } catch {
      return [];
    }
  }
}

function podPath(key: string): string {
  return `/explain/pod/${key.split("/").map(encodeURIComponent).join("/")}`;
}

/** Explains one node and sets the exit code. */
export async function runExplainNode(name: string, explainRequest: ExplainRequest): Promise<void> {
  const { request, io, spotToSpot, multiReplacement } = explainRequest;
  const answer = await answerOf(`/explain/node/${encodeURIComponent(name)}`, explainRequest);
  if (answer?.kind === "not-found") return reportFailure(`there is no node or NodeClaim ${name} in the cluster`, io);
  const notes = answer === undefined ? [] : [sourceNote(answer)];
  if (answer?.kind === "answered") {
    const disruption = answer.explanation as DisruptionExplanation;
    return printNode({ disruption }, { ...explainRequest, notes, nowMs: Date.parse(answer.at) });
  }
  const preparing = await preparePlan(request, io, "explanation");
  const prepared = planOf(
    preparing.kind === "prepared" ? { ...preparing, kind: "planned", plan: preparing.prepared } : preparing,
    io,
  );
  if (prepared === undefined) return;
  const explained = explainPreparedNode(name, prepared, {
    allowsSpotToSpot: spotToSpot,
    allowsMultiReplacement: multiReplacement,
  });
  if ("nodes" in explained)
    return reportFailure(`there is no node ${name} in the input${closestText(name, explained.nodes)}`, io);
  printNode(explained, { ...explainRequest, notes, nowMs: prepared.options.nowMs });
}

/** What the running controller says. Nobody is asked about files, or about another time. */
async function answerOf(path: string, explainRequest: ExplainRequest): Promise<ControllerAnswer | undefined> {
  const { request, controller, tokenFile, io } = explainRequest;
  const { live, paths, kustomize = [], nowMs } = request;
  if (live === undefined || paths.length + kustomize.length > 0 || nowMs !== undefined) return undefined;
  return askController(path, { live, controller, tokenFile, io });
}

/** Who explains: an answer of the controller knows its commands and its last search, a computed one does not. */
function sourceNote(answer: Exclude<ControllerAnswer, { readonly kind: "not-found" }>): string {
  return answer.kind === "answered"
    ? `answered by the running controller at ${answer.at}`
    : `computed here from the objects of the cluster, because there is no answer of the running controller: ${answer.because}`;
}

interface PrintOptions extends Pick<ExplainRequest, "output" | "io"> {
  readonly notes: readonly string[];
}

function printNode(
  explained: Parameters<typeof renderNode>[0],
  { output, io, notes, nowMs }: PrintOptions & { readonly nowMs: number },
): void {
  io.stdout(
    output === "json"
      ? `${JSON.stringify({ ...nodeReport(explained), ...(notes.length > 0 && { notes }) }, null, 2)}\n`
      : renderNode(explained, { nowMs, notes, color: usesColor(io) }),
  );
}

function printPod(explanation: Explanation | NotPendingPod, { output, io, notes }: PrintOptions): void {
  const isPending = !isNotPending(explanation);
  if (output === "json") {
    const withNotes = isPending || notes.length > 0 ? { ...explanation, notes } : explanation;
    io.stdout(`${JSON.stringify(withNotes, null, 2)}\n`);
  } else if (isPending) io.stdout(renderPod(explanation, { notes, color: usesColor(io) }));
  else {
    const lines = [
      `${explanation.pod} is not a pending pod: ${explanation.cause}.`,
      ...notes.map((one) => `note: ${one}`),
    ];
    io.stdout(lines.map((line) => `${oneLine(line)}\n`).join(""));
  }
  const { outcome } = explanation;
  const isPlaced = outcome.kind === "on-node" || outcome.kind === "on-new-node";
  const isBound = outcome.kind === "not-pending" && outcome.node !== undefined;
  if (!isPlaced && !isBound) io.exit(exitCodes.unschedulable);
}

function isNotPending(explanation: Explanation | NotPendingPod): explanation is NotPendingPod {
  return explanation.outcome.kind === "not-pending";
}

/** Undefined: there is no such pod. */
function podExplanation(key: string, plan: Plan): Explanation | NotPendingPod | undefined {
  const { scenario, decision } = plan;
  const { problem } = decidingRound(plan, key) ?? scenario;
  const byKind = new ObjectsByKind(plan.objects);
  const passedOver = new Map(
    scenario.notes.flatMap((note) => (note.code === "pool-passed-over" ? [[note.pool, note.because]] : [])),
  );
  const unusable = byKind.ofKind("NodePool").flatMap((pool) => {
    const because = pool.spec.replicas === undefined ? passedOver.get(pool.metadata.name ?? "") : "static";
    return because === undefined ? [] : [{ pool, because }];
  });
  const nodeClasses = nodeClassesOf(plan.objects);
  const { typesFor, largerStorage } = plan.catalogue;
  const explanation = explainPod(problem, key, {
    ignored: scenario.ignored,
    decision,
    unusablePools: unusablePoolFindings(unusable, nodeClasses),
    otherPools: otherPoolDrafts(unusable, nodeClasses).map(({ pool: { nodePool }, ...other }) => ({
      ...other,
      pool: { nodePool, instanceTypes: typesFor(nodePool.spec.template.spec.nodeClassRef) },
    })),
    ...(largerStorage && { largerStorage }),
  });
  if (explanation !== undefined) return explanation;
  const pod = byKind.ofKind("Pod").find(({ metadata }) => namespacedName(metadata) === key);
  return pod && notPendingPod(pod);
}

/** There is nothing to explain: everything runs, or there is no such pod. */
function reportChoice(
  { because, isScheduled }: Extract<ChosenPod, { readonly because: string }>,
  { io, output }: ExplainRequest,
): void {
  if (!isScheduled) {
    reportFailure(because, io);
    return;
  }
  io.stdout(
    output === "json"
      ? `${JSON.stringify({ outcome: { kind: "not-pending" }, cause: because }, null, 2)}\n`
      : `${oneLine(because)}.\n`,
  );
}

function reportFailure(message: string, io: Io): void {
  io.stderr(`error: ${oneLine(message)}\n`);
  io.exit(exitCodes.badInput);
}
