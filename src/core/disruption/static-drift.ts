import type { LabelPolicy } from "../../api/label-policy.ts";
import { noResources } from "../resources.ts";
import { staticNodeLimit } from "../round/static-pools.ts";
import type { PlannedNode } from "../scheduling/decision.ts";
import { nodeClaimTemplateOf, simulationKeys } from "../scheduling/node-claim-template.ts";
import { BudgetTickets } from "./budgets.ts";
import { type DisruptionCandidate, verdictOn } from "./candidate.ts";
import { type DisruptionCommand, disruptionCommand } from "./command.ts";
import { heldBackCause } from "./drift.ts";
import type { MethodInput, MethodOutcome } from "./method.ts";
import type { DisruptionPool, DisruptionSnapshot } from "./snapshot.ts";
import type { DecisionCause, NodeVerdict } from "./verdict.ts";

/**
 * Replaces drifted nodes of static pools one for one, from the template, without a simulation. Whoever starts a command
 * reserves its node against the pool's limit, and releases it if the start fails. (03:D-30)
 */
export function staticDrift({ snapshot, candidates, budgets }: MethodInput): MethodOutcome {
  const tickets = new BudgetTickets(budgets);
  const room = new Map<string, number>();
  const commands: DisruptionCommand[] = [];
  const verdicts: NodeVerdict[] = [];
  for (const candidate of candidates) {
    const { pool } = candidate;
    const left = room.get(pool.name) ?? roomInLimit(pool);
    room.set(pool.name, left);
    const cause = heldBackCause(candidate, snapshot) ?? causeAgainst(candidate, { tickets, left });
    if (cause !== undefined) {
      verdicts.push(verdictOn(candidate, cause));
      continue;
    }
    room.set(pool.name, left - 1);
    const command = staticReplacement(candidate, snapshot);
    commands.push(command);
    verdicts.push(verdictOn(candidate, { code: "chosen", decision: "replace", savings: command.savings }));
  }
  const isHeldBackByBudget = verdicts.some(({ code }) => code === "budget");
  return { commands, verdicts, isHeldBackByBudget, moves: [] };
}

/** A drifted node of a static pool makes way for one from the template. */
export function staticReplacement(
  candidate: DisruptionCandidate,
  { labelPolicy }: Pick<DisruptionSnapshot, "labelPolicy">,
): DisruptionCommand {
  const replacements = [nodeFromTemplate(candidate.pool, labelPolicy)];
  return disruptionCommand("static-drift", { candidates: [candidate], replacements });
}

/** Surplus nodes go first; then budget and limit decide. */
function causeAgainst(
  candidate: DisruptionCandidate,
  { tickets, left }: { readonly tickets: BudgetTickets; readonly left: number },
): DecisionCause | undefined {
  const { pool } = candidate;
  if (!tickets.isLeft(candidate)) return tickets.causeFor(candidate);
  const { active, pendingDisruption } = pool.claims;
  const { replicas = 0 } = pool.nodePool.spec;
  if (active + pendingDisruption > replicas) {
    return { code: "scaling-down", pool: pool.name, nodes: active + pendingDisruption, replicas };
  }
  if (left <= 0) return { code: "node-limit", pool: pool.name, limit: staticNodeLimit(pool.nodePool) };
  tickets.take(candidate);
  return undefined;
}

/** How many nodes the pool may have beyond those it has or is about to have. (03:SP-2) */
function roomInLimit(pool: DisruptionPool): number {
  const { active, pendingDisruption, deleting, reserved } = pool.claims;
  return Math.max(0, staticNodeLimit(pool.nodePool) - active - pendingDisruption - deleting - reserved);
}

/** Its type and price are the provider's choice. (02:Z-2) */
function nodeFromTemplate({ name, nodePool }: DisruptionPool, policy: LabelPolicy): PlannedNode {
  const { requirements } = nodeClaimTemplateOf(nodePool, policy);
  return {
    pool: name,
    pods: [],
    requirements: simulationKeys.reduce((left, key) => left.without(key), requirements),
    instanceTypes: [],
    price: 0,
    requests: noResources,
    minValuesRelaxed: false,
    reservations: [],
  };
}
