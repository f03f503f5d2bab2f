import { priceChangeText } from "../../core/disruption/command.ts";
import { verdictText } from "../../core/disruption/verdict-text.ts";
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

/** One for each node: the command that takes it next, else what the last method that looked at it found. In order of names. */
export function nodeOutcomes({
  methods,
  next,
}: Pick<DisruptionReport, "methods" | "next">): ReadonlyMap<string, NodeOutcome> {
  const found = new Map<string, NodeOutcome>();
  const commands = next?.commands ?? [];
  const destinations = new Set(commands.flatMap(({ existingNodes }) => Object.keys(existingNodes)));
  for (const { verdicts } of methods) {
    for (const verdict of verdicts) {
      const { node, nodePool, code } = verdict;
      if (unspecificCodes.has(code) && found.has(node)) continue;
      found.set(node, { node, nodePool, goes: false, text: keptText(verdict, destinations) });
    }
  }
  for (const command of commands) {
    const text = commandText(next?.reason ?? "", command);
    for (const node of command.nodes) found.set(node, { ...found.get(node), node, goes: true, text });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A node that could go stays while others do: those are disrupted first, and it may take their pods. */
function keptText(verdict: ReportedVerdict, destinations: ReadonlySet<string>): string {
  if (verdict.code !== "possible" && verdict.code !== "chosen") return verdict.text;
  return destinations.has(verdict.node)
    ? verdictText({ code: "destination", node: verdict.node })
    : `other nodes are disrupted first; ${verdict.text}`;
}

function commandText(reason: string, command: ReportedCommand): string {
  const { decision, nodes } = command;
  const together = nodes.length > 1 ? ` together with ${nodes.length - 1} more` : "";
  return `${reason}: would ${decision} it${together}, which ${savingText(command)}`;
}

/** What a command does to the price, as far as prices are known. */
export function savingText({ savings, isSavingKnown }: ReportedCommand): string {
  return priceChangeText(isSavingKnown ? savings : undefined);
}
