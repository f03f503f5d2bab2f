import type { DisruptionReason } from "../../api/vocabulary.ts";
import type { DisruptionCommand } from "../../core/disruption/command.ts";

/** `delete: nodepools=[a, b]: [node1, node2] -> [1 replacement] (savings: $0.21)`. (03 §6.3) */
export function commandText({ decision, candidates, replacements, savings }: DisruptionCommand): string {
  const pools = [...new Set(candidates.map(({ pool }) => pool.name))].sort();
  const nodes = candidates.map(({ name }) => name);
  const count = replacements.length;
  const replaced = count === 0 ? "" : ` -> [${count} replacement${count === 1 ? "" : "s"}]`;
  return `${decision}: nodepools=[${pools.join(", ")}]: [${nodes.join(", ")}]${replaced} (savings: $${savings.toFixed(2)})`;
}

/** The same about one node of several, so that its event does not list them all. (03 §6.3) */
export function nodeCommandText(command: DisruptionCommand, node: string): string {
  const { decision, candidates } = command;
  if (candidates.length === 1) return commandText(command);
  return `${decision}: [${node}] (part of ${candidates.length}-node consolidation)`;
}

/** As metrics spell a reason. */
export function reasonLabel(reason: DisruptionReason): "empty" | "underutilized" | "drifted" {
  return ({ Empty: "empty", Underutilized: "underutilized", Drifted: "drifted" } as const)[reason];
}
