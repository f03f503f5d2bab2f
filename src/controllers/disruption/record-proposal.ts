import type { KubeObject } from "../../api/object.ts";
import type { MethodProposal } from "../../core/disruption/disruption-pass.ts";
import { disruptionMethods } from "../../core/disruption/methods.ts";
import type { DisruptionSnapshot } from "../../core/disruption/snapshot.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { snakeCase } from "../snake-case.ts";
import { isBlockedByBudget, recordBlockedPool, recordVerdicts } from "./disruption-events.ts";
import { reasonLabel } from "./reason-label.ts";

interface ProposalDetails {
  readonly snapshot: DisruptionSnapshot;
  readonly elapsedMs: number;
}

/** Counters that dashboards divide by exist from the start. (03 §6.1) */
export function initializeTimeouts({ metrics }: KarpenterContext): void {
  for (const consolidation_type of ["multi", "single"] as const)
    metrics.count("voluntary_disruption_consolidation_timeouts_total", { consolidation_type }, 0);
}

/** Events, metrics and log lines about what a method found. (03:D-4, D-26, B-7, §6) */
export async function recordProposal(
  proposal: MethodProposal,
  { snapshot, elapsedMs }: ProposalDetails,
  context: KarpenterContext,
): Promise<void> {
  const { method, candidates } = proposal;
  const { reason, consolidationType: consolidation_type } = disruptionMethods[method];
  const { metrics } = context;
  const label = reasonLabel(reason);
  metrics.set("voluntary_disruption_eligible_nodes", { reason: label }, candidates.length);
  const took = { reason: label, consolidation_type };
  if (candidates.length > 0)
    metrics.observe("voluntary_disruption_decision_evaluation_duration_seconds", took, elapsedMs / 1_000);
  recordBudgets(proposal, context);
  recordMoves(proposal, context);
  await recordVerdicts(proposal, snapshot, context);
  recordTimeout(proposal, context);
}

function recordBudgets({ method, budgets }: MethodProposal, context: KarpenterContext): void {
  const { reason } = disruptionMethods[method];
  for (const [nodepool, budget] of budgets) {
    const labels = { nodepool, reason };
    context.metrics.set("nodepools_allowed_disruptions", labels, budget.allowed);
    context.metrics.set("nodepools_nodes_consuming_budgets", labels, budget.disrupting);
    for (const problem of budget.problems)
      context.log.error("detected disruption budget errors", { NodePool: { name: nodepool }, error: problem.message });
    const pool = context.cluster.pool(nodepool);
    if (pool !== undefined && isBlockedByBudget(budget)) recordBlockedPool(pool as KubeObject, reason, context);
  }
}

function recordMoves({ moves }: MethodProposal, { metrics, log }: KarpenterContext): void {
  for (const { pool: nodepool, policy, isApproved, score } of moves) {
    const labels = { decision: isApproved ? "approved" : "rejected", nodepool, policy: snakeCase(policy) };
    metrics.count("consolidation_moves_total", labels);
    if (score === undefined) continue;
    metrics.observe("consolidation_score", labels, score.score);
    log.debug("consolidation score", { NodePool: { name: nodepool }, score: score.score, decision: labels.decision });
  }
}

function recordTimeout({ method, verdicts }: MethodProposal, { metrics, log }: KarpenterContext): void {
  const { consolidationType } = disruptionMethods[method];
  if (consolidationType !== "multi" && consolidationType !== "single") return;
  const isTimeout = verdicts.some((one) => one.code === "not-reached" && one.because === "search-budget");
  if (!isTimeout) return;
  metrics.count("voluntary_disruption_consolidation_timeouts_total", { consolidation_type: consolidationType });
  log.debug(
    consolidationType === "single"
      ? "abandoning single-node consolidation due to timeout"
      : "stopping multi-node consolidation after timeout",
  );
}
