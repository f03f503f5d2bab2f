import type { DisruptionCandidate } from "./candidate.ts";
import type { DisruptionCommand } from "./command.ts";

type DescribedCommand = Pick<DisruptionCommand, "decision" | "reason" | "candidates" | "replacements" | "savings">;

/** A command in one line, as logs have it: `Underutilized/ID: replace: nodepools=[a]: [n1, n2] -> [1 replacement] (savings: $0.10)`. (03 §6.3) */
export function commandText(command: DescribedCommand, id: string): string {
  const { reason, decision, candidates, savings } = command;
  const pools = [...new Set(candidates.map(({ pool }) => pool.name))].join(",");
  return `${reason}/${id}: ${decision}: nodepools=[${pools}]: ${movesText(command)} (savings: $${savings.toFixed(2)})`;
}

/** A command as the events of one of its nodes have it; other nodes of the command are only counted. (03 §6.3) */
export function nodeCommandText(command: DescribedCommand, candidate: DisruptionCandidate): string {
  const { decision, candidates, savings } = command;
  const moves =
    candidates.length === 1
      ? movesText(command)
      : `[${candidate.name}] (part of ${candidates.length}-node consolidation)`;
  return `${decision}: ${moves} (savings: $${savings.toFixed(2)})`;
}

function movesText({ candidates, replacements }: DescribedCommand): string {
  const nodes = `[${candidates.map(({ name }) => name).join(", ")}]`;
  if (replacements.length === 0) return nodes;
  return `${nodes} -> [${replacements.length} ${replacements.length === 1 ? "replacement" : "replacements"}]`;
}
