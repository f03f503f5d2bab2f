import { editDistance } from "../../api/manifest/closest-match.ts";
import { namespacedName } from "../../api/object.ts";
import type { DisruptionExplanation } from "../../core/explain/explain-disruption.ts";
import { explainPod } from "../../core/explain/explain-pod.ts";
import type { Explanation } from "../../core/explain/explanation.ts";
import { type NotPendingPod, notPendingPod } from "../../core/explain/why-not-pending.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { decidingRound } from "../../state/plan-rounds.ts";
import { exitCodes, type Io, usesColor } from "../io.ts";
import { type Plan, type PlanRequest, preparePlan } from "../plan/make-plan.ts";
import { planNotes } from "../plan/notes.ts";
import { planOf, planOrReport } from "../plan/plan-or-report.ts";
import { oneLine } from "../text-table.ts";
import { askController, type ControllerAnswer } from "./ask-controller.ts";
import { explainPreparedNode, nodeReport } from "./explained-node.ts";
import { renderNode } from "./render-node.ts";
import { renderPod } from "./render-pod.ts";

export interface ExplainRequest {
  readonly request: PlanRequest;
  readonly output: "text" | "json";
  readonly io: Io;
  /** Of nodes: the feature gate SpotToSpotConsolidation. */
  readonly spotToSpot: boolean;
  readonly controller?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** Explains one pod and sets the exit code. */
export async function runExplainPod(name: string, explainRequest: ExplainRequest): Promise<void> {
  const { request, io } = explainRequest;
  const key = name.includes("/") ? name : `default/${name}`;
  const answer = await answerOf(`/explain/pod/${key.split("/").map(encodeURIComponent).join("/")}`, explainRequest);
  if (answer?.kind === "not-found") return reportFailure(`there is no pod ${key} in the cluster`, io);
  if (answer?.kind === "answered") {
    return printPod(answer.explanation as Explanation | NotPendingPod, {
      ...explainRequest,
      notes: [sourceNote(answer)],
    });
  }
  const plan = await planOrReport(request, io);
  if (plan === undefined) return;
  const explanation = podExplanation(key, plan, io);
  if (explanation === undefined) return;
  const source = answer === undefined ? [] : [sourceNote(answer)];
  const notes = isNotPending(explanation) ? source : [...planNotes(plan), ...source];
  printPod(explanation, { ...explainRequest, notes });
}

/** Explains one node and sets the exit code. */
export async function runExplainNode(name: string, explainRequest: ExplainRequest): Promise<void> {
  const { request, io, spotToSpot } = explainRequest;
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
  const explained = explainPreparedNode(name, prepared, { allowsSpotToSpot: spotToSpot });
  if ("nodes" in explained) return reportUnknown(`there is no node ${name}`, closestNames(name, explained.nodes), io);
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
    : `computed here from the objects of the cluster, because the running controller was not asked: ${answer.because}`;
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

/** Undefined, and reported: there is no such pod. */
function podExplanation(key: string, plan: Plan, io: Io): Explanation | NotPendingPod | undefined {
  const { scenario, decision } = plan;
  const { problem } = decidingRound(plan, key) ?? scenario;
  const explanation = explainPod(problem, key, { ignored: scenario.ignored, decision });
  if (explanation !== undefined) return explanation;
  const pods = new ObjectsByKind(plan.objects).ofKind("Pod");
  const pod = pods.find(({ metadata }) => namespacedName(metadata) === key);
  if (pod !== undefined) return notPendingPod(pod);
  const names = pods.map(({ metadata }) => namespacedName(metadata));
  reportUnknown(`there is no pod ${key}`, closestNames(key, names), io);
  return undefined;
}

function reportUnknown(message: string, names: readonly string[], io: Io): void {
  const hint = names.length === 0 ? "" : `; the closest names are ${names.join(", ")}`;
  reportFailure(`${message} in the input${hint}`, io);
}

function reportFailure(message: string, io: Io): void {
  io.stderr(`error: ${message}\n`);
  io.exit(exitCodes.badInput);
}

const namesShown = 3;

function closestNames(word: string, names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, namesShown)
    .map(({ name }) => name);
}
