import { minSaving } from "../../api/validation/min-saving.ts";
import { candidatePrice, type DisruptionCommand } from "./command.ts";
import { undoneMove } from "./recent-move.ts";
import type { DisruptionSnapshot } from "./snapshot.ts";
import type { DecisionCause } from "./verdict.ts";

/**
 * Why a consolidation that is possible is not worth it: it saves less than a pool asks for, or it would undo a recent one.
 * Upstream has neither rule. (03:D-49a, D-58a)
 */
export function causeAgainstCommand(
  command: DisruptionCommand,
  snapshot: DisruptionSnapshot,
): DecisionCause | undefined {
  if (snapshot.mode === "upstream") return undefined;
  return savingCause(command) ?? undoneMove(command, snapshot.recentMoves, snapshot.nowMs);
}

/** Every pool that loses a node has its say. A value that cannot be read holds consolidation back: it was meant to. (03:D-49a) */
function savingCause({ candidates, savings }: DisruptionCommand): DecisionCause | undefined {
  const price = candidatePrice(candidates);
  for (const { name, nodePool } of new Set(candidates.map(({ pool }) => pool))) {
    const wanted = minSaving(nodePool);
    if (wanted.kind === "invalid") return { code: "min-saving-invalid", pool: name, value: wanted.value };
    if (wanted.kind === "none") continue;
    const minimum = wanted.kind === "amount" ? wanted.dollars : wanted.share * price;
    if (savings < minimum) return { code: "saving-too-small", pool: name, savings, minimum };
  }
  return undefined;
}
