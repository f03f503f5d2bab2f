import type { Pod } from "../../api/kubernetes/pod.ts";
import { editDistance } from "../../api/manifest/closest-match.ts";
import { namespacedName } from "../../api/object.ts";
import { explainPod } from "../../core/explain/explain-pod.ts";
import { isOwnedByDaemonSet, isTerminalPod } from "../../core/pod-predicates.ts";
import { ObjectsByKind } from "../../state/objects-by-kind.ts";
import { exitCodes, type Io, usesColor } from "../io.ts";
import { type Plan, type PlanRequest, preparePlan } from "../plan/make-plan.ts";
import { planNotes } from "../plan/notes.ts";
import { planOf, planOrReport } from "../plan/plan-or-report.ts";
import { explainPreparedNode, nodeReport } from "./explained-node.ts";
import { renderNode } from "./render-node.ts";
import { renderPod } from "./render-pod.ts";

export interface ExplainRequest {
  readonly request: PlanRequest;
  readonly output: "text" | "json";
  readonly io: Io;
  /** Of nodes: the feature gate SpotToSpotConsolidation. */
  readonly spotToSpot: boolean;
}

/** Explains one pod and sets the exit code. */
export async function runExplainPod(name: string, explainRequest: ExplainRequest): Promise<void> {
  const { request, io, output } = explainRequest;
  const plan = await planOrReport(request, io);
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
      : renderPod(explanation, { notes, color: usesColor(io) }),
  );
  const { kind } = explanation.outcome;
  if (kind === "unplaced" || kind === "ignored") io.exit(exitCodes.unschedulable);
}

/** Explains one node and sets the exit code. */
export async function runExplainNode(name: string, { request, io, output, spotToSpot }: ExplainRequest): Promise<void> {
  const preparing = await preparePlan(request, io, "explanation");
  const prepared = planOf(
    preparing.kind === "prepared" ? { ...preparing, kind: "planned", plan: preparing.prepared } : preparing,
    io,
  );
  if (prepared === undefined) return;
  const explained = explainPreparedNode(name, prepared, { allowsSpotToSpot: spotToSpot });
  if ("nodes" in explained) return reportUnknown(`there is no node ${name}`, closestNames(name, explained.nodes), io);
  const { nowMs } = prepared.options;
  io.stdout(
    output === "json"
      ? `${JSON.stringify(nodeReport(explained), null, 2)}\n`
      : renderNode(explained, { nowMs, color: usesColor(io) }),
  );
}

/** Explains a pod that is not part of the plan: it does not exist, already runs, or is not provisioned for. */
function reportNotPending(key: string, plan: Plan, { io, output }: ExplainRequest): void {
  const pods = new ObjectsByKind(plan.objects).ofKind("Pod");
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
      : `${key} is not a pending pod: ${cause}.\n`,
  );
  if (!pod.spec.nodeName) io.exit(exitCodes.unschedulable);
}

/** Why a pod is not one the provisioner would consider. (02:P-1 to P-6) */
function whyNotPending(pod: Pod): string {
  const { nodeName = "", schedulingGates = [] } = pod.spec;
  if (isTerminalPod(pod)) return `it has finished (${pod.status?.phase})`;
  if (nodeName !== "") return `it is already bound to node ${nodeName}`;
  if (isOwnedByDaemonSet(pod)) return "it belongs to a DaemonSet, and no node is launched for DaemonSet pods";
  if (schedulingGates.length > 0)
    return `it has scheduling gates (${schedulingGates.map(({ name }) => name).join(", ")})`;
  if (pod.status?.nominatedNodeName)
    return `it is nominated to node ${pod.status.nominatedNodeName}, where preemption makes room for it`;
  return "the scheduler has not marked it Unschedulable";
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
