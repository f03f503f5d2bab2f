import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { KubeObject } from "../../api/object.ts";
import type { DisruptionReason } from "../../api/vocabulary.ts";
import { balancedK } from "../../core/disruption/balanced.ts";
import type { PoolBudget } from "../../core/disruption/budgets.ts";
import type { DisruptionCandidate } from "../../core/disruption/candidate.ts";
import type { DisruptionCommand } from "../../core/disruption/command.ts";
import { nodeCommandText } from "../../core/disruption/command-text.ts";
import type { MethodProposal } from "../../core/disruption/disruption-pass.ts";
import type { DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import type { ValidationFailure } from "../../core/disruption/validation.ts";
import type { NodeVerdict } from "../../core/disruption/verdict.ts";
import { verdictEvent } from "../../core/disruption/verdict-event.ts";
import type { InvolvedObject } from "../../kube/controller.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { forEachInSlices } from "../provisioning/run-in-slices.ts";

const unconsolidatableMs = 15 * 60_000;
const poolBlockedMs = 60_000;

/** An event on a node and on its claim, deduplicated by object. (03 §6.2) */
function recordOnNodeAndClaim(
  { node, claim }: { readonly node?: object | undefined; readonly claim?: object | undefined },
  event: {
    readonly reason: string;
    readonly message: string;
    readonly values?: readonly string[];
    readonly ms?: number;
  },
  { recordEvent }: KarpenterContext,
): void {
  for (const object of [node, claim] as readonly (InvolvedObject | undefined)[]) {
    if (object === undefined) continue;
    const { reason, message, values = [], ms } = event;
    const dedupe = { values: [object.metadata.uid ?? "", ...values], ...(ms !== undefined && { durationMs: ms }) };
    recordEvent(object, { type: "Normal", reason, message, dedupe });
  }
}

/** Says on nodes why they stay. Nodes that are not ours get none. (03 §4.2) */
export async function recordVerdicts(
  { verdicts, method }: MethodProposal,
  { cluster }: DisruptionSnapshot,
  context: KarpenterContext,
): Promise<void> {
  const nodes = new Map(cluster.nodes.map((one) => [one.name, one]));
  const visit = (verdict: NodeVerdict): void => {
    const event = verdictEvent(verdict, method);
    const stateNode = nodes.get(verdict.node);
    if (event === undefined || stateNode?.claim === undefined) return;
    const ms = event.reason === "Unconsolidatable" ? { ms: unconsolidatableMs } : {};
    recordOnNodeAndClaim(stateNode, { ...event, ...ms }, context);
  };
  await forEachInSlices(verdicts, { budget: context.openBudget(), visit });
}

/** The pool has nodes, and none of them may go now. (03:D-26) */
export function recordBlockedPool(pool: KubeObject, reason: DisruptionReason, { recordEvent }: KarpenterContext): void {
  recordEvent(pool, {
    type: "Normal",
    reason: "DisruptionBlocked",
    message: `No allowed disruptions for disruption reason ${reason} due to blocking budget`,
    dedupe: { values: [pool.metadata.uid ?? "", reason], durationMs: poolBlockedMs },
  });
}

export function isBlockedByBudget({ nodes, allowed }: PoolBudget): boolean {
  return nodes > 0 && allowed === 0;
}

/** A command that would replace nodes was found and waits to be checked. (03 §6.2) */
export function recordCandidates(command: DisruptionCommand, context: KarpenterContext): void {
  if (command.decision !== "replace") return;
  forEachCandidate(command, context, (candidate) => {
    const text = nodeCommandText(command, candidate);
    return { reason: "ConsolidationCandidate", message: text, values: [text] };
  });
}

/** A command did not hold when it was checked again. (03:D-54, D-57) */
export function recordRejected(
  command: DisruptionCommand,
  failure: ValidationFailure,
  context: KarpenterContext,
): void {
  forEachCandidate(command, context, (candidate) => {
    const text = nodeCommandText(command, candidate);
    return { reason: "ConsolidationRejected", message: `${text}, ${failure}`, values: [text, failure] };
  });
}

/** How a command of Balanced pools scored: on the node, or on the pools of several nodes. (03:B-7) */
export function recordApproved({ candidates, scores }: DisruptionCommand, context: KarpenterContext): void {
  const [single] = candidates;
  for (const { pool, score, threshold, savingsShare, disruptionShare } of scores) {
    const message = `Score ${score.toFixed(2)} >= ${threshold.toFixed(2)} (k=${balancedK}, savings ${percent(savingsShare)}, disruption ${percent(disruptionShare)})`;
    const event = { reason: "ConsolidationApproved", message };
    if (candidates.length === 1 && single !== undefined) recordOnNodeAndClaim(objectsOf(single), event, context);
    else
      recordOnNodeAndClaim({ node: candidates.find((one) => one.pool.name === pool)?.pool.nodePool }, event, context);
  }
}

/** The node goes now. (03:D-77) */
export function recordTerminating(
  candidate: DisruptionCandidate,
  reason: DisruptionReason,
  context: KarpenterContext,
): void {
  const event = { reason: "DisruptionTerminating", message: `Disrupting Node: ${reason}`, values: [reason] };
  recordOnNodeAndClaim(objectsOf(candidate), event, context);
}

/** A replacement starts. (03:D-75) */
export function recordLaunching(claim: NodeClaim, reason: DisruptionReason, context: KarpenterContext): void {
  const event = { reason: "DisruptionLaunching", message: `Launching NodeClaim: ${reason}`, values: [reason] };
  recordOnNodeAndClaim({ claim }, event, context);
}

export function recordWaitingOnReadiness(claim: NodeClaim, context: KarpenterContext): void {
  const message = "Waiting on readiness to continue disruption";
  recordOnNodeAndClaim({ claim }, { reason: "DisruptionWaitingReadiness", message }, context);
}

function forEachCandidate(
  { candidates }: DisruptionCommand,
  context: KarpenterContext,
  eventOf: (candidate: DisruptionCandidate) => {
    readonly reason: string;
    readonly message: string;
    readonly values: readonly string[];
  },
): void {
  for (const candidate of candidates) recordOnNodeAndClaim(objectsOf(candidate), eventOf(candidate), context);
}

function objectsOf({ stateNode }: DisruptionCandidate) {
  return { node: stateNode.node, claim: stateNode.claim };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
