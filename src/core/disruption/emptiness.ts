import { BudgetTickets } from "./budgets.ts";
import { bySavingsRatio, type DisruptionCandidate, verdictOn } from "./candidate.ts";
import { disruptionCommand } from "./command.ts";
import type { MethodInput, MethodOutcome } from "./method.ts";
import type { NodeVerdict } from "./verdict.ts";

/** Deletes empty nodes, all in one command, as far as budgets allow. (03:D-29b) */
export function emptiness({ candidates, budgets }: MethodInput): MethodOutcome {
  const tickets = new BudgetTickets(budgets);
  const chosen: DisruptionCandidate[] = [];
  const verdicts: NodeVerdict[] = [];
  for (const candidate of bySavingsRatio(candidates)) {
    if (tickets.take(candidate)) {
      chosen.push(candidate);
      verdicts.push(verdictOn(candidate, { code: "chosen", decision: "delete", savings: candidate.price }));
    } else {
      verdicts.push(verdictOn(candidate, tickets.causeFor(candidate)));
    }
  }
  return {
    commands: chosen.length === 0 ? [] : [disruptionCommand("emptiness", { candidates: chosen })],
    verdicts,
    isHeldBackByBudget: chosen.length < candidates.length,
    moves: [],
  };
}
