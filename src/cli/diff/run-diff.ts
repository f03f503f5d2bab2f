import type { Finding } from "../../api/manifest/finding.ts";
import type { KubeObject } from "../../api/object.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Input } from "../input.ts";
import { exitCodes, type Io, usesColor } from "../io.ts";
import { readDocuments } from "../plan/documents.ts";
import { makePlan, type Plan, type PlanRequest, preparePlan } from "../plan/make-plan.ts";
import { planOf } from "../plan/plan-or-report.ts";
import { readPlanInput } from "../plan-input.ts";
import { reportFindings } from "../report-findings.ts";
import { countText } from "../text-table.ts";
import { applyChange, type Change, type ChangedDocuments, markDeleting } from "./apply-change.ts";
import { classNotes } from "./class-notes.ts";
import { clusterPicture } from "./cluster-picture.ts";
import { type DeleteReference, findReferenced } from "./delete-reference.ts";
import { diffReportOf, hasLostPods } from "./diff-report.ts";
import { type DriftedNode, driftedNodes } from "./drifted-nodes.ts";
import { renderDiff } from "./render-diff.ts";

export interface DiffRequest {
  /** How to plan; its files are the change, its cluster is the base. */
  readonly request: PlanRequest;
  /** Files of the base; without them it is the cluster. */
  readonly base: readonly string[];
  readonly deleted: readonly DeleteReference[];
  readonly output: "table" | "json";
  /** Whether differences have an exit code of their own. */
  readonly exitCode: boolean;
}

/** Plans with and without a change, prints what is different and sets the exit code. */
export async function runDiff(diff: DiffRequest, io: Io): Promise<void> {
  const { request, base, output, exitCode } = diff;
  const { recursive, live, paths, kustomize = [] } = request;
  const tools = { io, nowMs: Date.now() };
  const before = await readPlanInput({ paths: base, recursive, live, read: readDocuments }, tools);
  const applied = await readPlanInput({ paths, kustomize, recursive, read: readDocuments }, tools);
  const nowMs = request.nowMs ?? (Date.parse(before.header?.time ?? "") || tools.nowMs);
  const change = changeOf(diff, { before, applied, io });
  if (change === undefined) return;
  const planning = { ...request, live: undefined, nowMs };
  const reported = new Set<string>();
  const planBefore = planOf(onlyNew(await makePlan({ ...planning, input: before }, io), reported), io);
  if (planBefore === undefined) return;
  const changed = applyChange(before.documents, change, { nowMs });
  const after = await planAfter(changed, { planning, planBefore, before, applied, reported, io });
  if (after === undefined) return;
  const report = diffReportOf({
    before: clusterPicture(planBefore),
    after: clusterPicture(after.plan),
    change: changed.objects,
    drifted: after.drifted,
    notes: classNotes(planBefore.objects, after.plan.objects),
  });
  io.stdout(output === "json" ? `${JSON.stringify(report, null, 2)}\n` : renderDiff(report, { color: usesColor(io) }));
  if (hasLostPods(report)) io.exit(exitCodes.unschedulable);
  else if (exitCode && report.isDifferent) io.exit(exitCodes.different);
}

/** What to apply and to delete; undefined, and reported, if something to delete is not there or a file cannot be read. */
function changeOf(
  { deleted }: Pick<DiffRequest, "deleted">,
  { before, applied, io }: { readonly before: Input; readonly applied: Input; readonly io: Io },
): Change | undefined {
  const found = deleted.map((reference) => ({ reference, ...findReferenced(reference, before.documents) }));
  const problems = found.flatMap(({ reference, ...one }) =>
    "problem" in one ? [`--delete ${reference.written}: ${one.problem}`] : [],
  );
  const errors = reportFindings(applied.findings, io);
  for (const problem of problems) io.stderr(`error: ${problem}\n`);
  if (problems.length + errors > 0) {
    io.stderr(`${countText(problems.length + errors, "error")}; nothing was compared\n`);
    io.exit(exitCodes.badInput);
    return undefined;
  }
  return { applied: applied.documents, deleted: found.flatMap((one) => ("object" in one ? [one.object] : [])) };
}

interface AfterContext {
  readonly planning: PlanRequest;
  readonly planBefore: Plan;
  readonly before: Input;
  readonly applied: Input;
  readonly reported: Set<string>;
  readonly io: Io;
}

/** The plan after the change. Nodes that drift by it and can go are planned as nodes that are being deleted. */
async function planAfter(
  changed: ChangedDocuments,
  { planning, planBefore, before, applied, reported, io }: AfterContext,
): Promise<{ readonly plan: Plan; readonly drifted: readonly DriftedNode[] } | undefined> {
  const { nowMs = 0 } = planning;
  const input = { ...before, documents: changed.documents, sources: [...before.sources, ...applied.sources] };
  const drifted = mayDrift(changed) ? await driftOf(planBefore, { ...planning, input }, io) : [];
  const going = new Set(drifted.filter(({ isReplaced }) => isReplaced).map(({ nodeClaim }) => nodeClaim));
  const isGoing = ({ kind, metadata }: KubeObject): boolean => kind === "NodeClaim" && going.has(metadata.name ?? "");
  const documents = markDeleting(changed.documents, isGoing, nowMs);
  const outcome = await makePlan({ ...planning, input: { ...input, documents } }, io);
  const plan = planOf(onlyNew(outcome, reported), io);
  return plan && { plan, drifted };
}

/** Kinds whose change makes nodes drift. */
const driftingKinds: ReadonlySet<string> = new Set(["NodePool", "EC2NodeClass"]);

function mayDrift({ objects }: ChangedDocuments): boolean {
  return objects.some(({ kind, change }) => change === "changed" && driftingKinds.has(kind));
}

async function driftOf(before: Plan, after: PlanRequest, io: Io): Promise<readonly DriftedNode[]> {
  const outcome = await preparePlan(after, io, "disruption");
  return outcome.kind === "prepared" ? driftedNodes(before, outcome.prepared) : []; // what is wrong is reported later
}

/** An outcome with the findings that were not reported yet: both sides are made from mostly the same objects. */
function onlyNew<T extends { readonly findings: readonly Finding[] }>(outcome: T, reported: Set<string>): T {
  const findings = outcome.findings.filter((finding) => {
    const key = canonicalJson(finding);
    const isNew = !reported.has(key);
    reported.add(key);
    return isNew;
  });
  return { ...outcome, findings };
}
