import type { Pod } from "../../api/kubernetes/pod.ts";
import { editDistance } from "../../api/manifest/closest-match.ts";
import { namespacedName } from "../../api/object.ts";
import { explainNode } from "../../core/explain/explain-node.ts";
import { explainPod } from "../../core/explain/explain-pod.ts";
import { isOwnedByDaemonSet, isTerminalPod } from "../../core/pod-predicates.ts";
import { exitCodes, type Io } from "../io.ts";
import { makePlan, type Plan, type PlanRequest } from "../plan/make-plan.ts";
import { planNotes } from "../plan/notes.ts";
import { reportFindings } from "../report-findings.ts";
import { renderNode } from "./render-node.ts";
import { renderPod } from "./render-pod.ts";

export interface ExplainRequest {
  readonly request: PlanRequest;
  readonly output: "text" | "json";
  readonly io: Io;
}

/** Explains one pod and sets the exit code. */
export async function runExplainPod(name: string, explainRequest: ExplainRequest): Promise<void> {
  const { io, output } = explainRequest;
  const plan = await planOrReport(explainRequest);
  if (plan === undefined) return;
  const key = name.includes("/") ? name : `default/${name}`;
  const { scenario, decision } = plan;
  const explanation = explainPod(scenario.problem, key, { ignored: scenario.ignored, decision });
  if (explanation === undefined) {
    reportNotPending(key, plan, explainRequest);
    return;
  }
  const notes = planNotes(plan);
  io.stdout(
    output === "json"
      ? `${JSON.stringify({ ...explanation, notes }, null, 2)}\n`
      : renderPod(explanation, { notes, ...colorOptions(io) }),
  );
  const { kind } = explanation.outcome;
  if (kind === "unplaced" || kind === "ignored") io.exit(exitCodes.unplaced);
}

export async function runExplainNode(name: string, explainRequest: ExplainRequest): Promise<void> {
  const { io, output } = explainRequest;
  const plan = await planOrReport(explainRequest);
  if (plan === undefined) return;
  const { problem } = plan.scenario;
  const explanation = explainNode(problem, name);
  if (explanation === undefined) {
    const known = [...new Set([...problem.nodes.map((node) => node.name), ...problem.nodesByName.keys()])];
    reportUnknown(`there is no node ${name}`, closestNames(name, known), io);
    return;
  }
  io.stdout(
    output === "json" ? `${JSON.stringify(explanation, null, 2)}\n` : renderNode(explanation, colorOptions(io)),
  );
}

async function planOrReport({ request, io }: ExplainRequest): Promise<Plan | undefined> {
  const outcome = await makePlan(request, io);
  const errors = reportFindings(outcome.findings, io);
  if (outcome.kind === "planned") return outcome.plan;
  if (outcome.kind === "no-catalogue") {
    io.stderr(`error: ${outcome.because}\n`);
    io.exit(outcome.refused === "usage" ? exitCodes.usage : exitCodes.badInput);
    return undefined;
  }
  io.stderr(`${errors} ${errors === 1 ? "error" : "errors"}; nothing was planned\n`);
  io.exit(exitCodes.badInput);
  return undefined;
}

function colorOptions({ isTty, env }: Io): { readonly color: boolean } {
  return { color: isTty && (env["NO_COLOR"] ?? "") === "" };
}

/** A pod nobody has to place: it has its place, or it is not for us to place. */
function reportNotPending(key: string, plan: Plan, { io, output }: ExplainRequest): void {
  const pods = plan.objects.filter(({ kind }) => kind === "Pod") as unknown as readonly Pod[];
  const pod = pods.find(({ metadata }) => namespacedName(metadata) === key);
  if (pod === undefined) {
    reportUnknown(
      `there is no pod ${key}`,
      closestNames(
        key,
        pods.map(({ metadata }) => namespacedName(metadata)),
      ),
      io,
    );
    return;
  }
  const cause = whyNotPending(pod);
  const outcome = { kind: "not-pending", ...(pod.spec.nodeName && { node: pod.spec.nodeName }) };
  io.stdout(
    output === "json"
      ? `${JSON.stringify({ pod: key, outcome, cause }, null, 2)}\n`
      : `${key} is not to be placed: ${cause}.\n`,
  );
  if (pod.spec.nodeName === undefined) io.exit(exitCodes.unplaced);
}

/** 02:P-1 to P-6. */
function whyNotPending(pod: Pod): string {
  const { nodeName = "", schedulingGates = [] } = pod.spec;
  if (isTerminalPod(pod)) return `it has ended (${pod.status?.phase})`;
  if (nodeName !== "") return `it is on node ${nodeName} already`;
  if (isOwnedByDaemonSet(pod)) return "its DaemonSet brings it to nodes that exist, and no node is bought for it";
  if (schedulingGates.length > 0)
    return `its scheduling gates are closed (${schedulingGates.map(({ name }) => name).join(", ")})`;
  if (pod.status?.nominatedNodeName)
    return `it waits for room on node ${pod.status.nominatedNodeName}, for which others make way`;
  return "the cluster's scheduler has not called it unschedulable";
}

function reportUnknown(message: string, names: readonly string[], io: Io): void {
  const hint = names.length === 0 ? "" : `; the closest names are ${names.join(", ")}`;
  io.stderr(`error: ${message} in the input${hint}\n`);
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
