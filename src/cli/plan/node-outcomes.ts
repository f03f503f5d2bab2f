import type { DisruptionReport, ReportedCommand, ReportedVerdict } from "./disruption-report.ts";

/** Whether disruption would take a node now, and why or why not. */
export interface NodeOutcome {
  readonly node: string;
  readonly nodePool?: string | undefined;
  readonly goes: boolean;
  /** One sentence. */
  readonly text: string;
}

/** Says little of a node where another method has found out more. */
const unspecificCodes: ReadonlySet<string> = new Set<ReportedVerdict["code"]>([
  "static-pool",
  "dynamic-pool",
  "not-drifted",
  "empty",
  "too-few-nodes",
]);

/** One for each node: the command that takes it, else what the last method that looked at it found. In order of names. */
export function nodeOutcomes({
  methods,
  next,
}: Pick<DisruptionReport, "methods" | "next">): ReadonlyMap<string, NodeOutcome> {
  const found = new Map<string, NodeOutcome>();
  for (const { verdicts } of methods) {
    for (const { node, nodePool, code, text } of verdicts) {
      if (!unspecificCodes.has(code) || !found.has(node)) found.set(node, { node, nodePool, goes: false, text });
    }
  }
  const leaving = new Set<string>();
  for (const { reason, commands } of [...(next === undefined ? [] : [next]), ...methods]) {
    for (const command of commands) {
      for (const node of command.nodes) {
        if (leaving.has(node)) continue; // an earlier method takes it
        leaving.add(node);
        found.set(node, { ...found.get(node), node, goes: true, text: commandText(reason, command) });
      }
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function commandText(reason: string, { decision, nodes, savings }: ReportedCommand): string {
  const together = nodes.length > 1 ? ` with ${nodes.length - 1} more` : "";
  return `${reason}: would ${decision} it${together}, which ${priceChangeText(savings)}`;
}

/** What a command does to the price. */
export function priceChangeText(savings: number): string {
  return savings >= 0 ? `saves $${savings.toFixed(4)}/hour` : `costs $${(-savings).toFixed(4)}/hour more`;
}
