import type { PodMove } from "../../core/disruption/command.ts";
import type { DisruptionBlocker } from "../../core/explain/disruption-blockers.ts";
import { durationText } from "../../core/explain/disruption-remedies.ts";
import { type DisruptionExplanation, type DisruptionMove, moveText } from "../../core/explain/explain-disruption.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { podSummary } from "../plan/pod-summary.ts";
import { withoutPlaceText } from "../plan/render-disruption.ts";
import { countText, formatTable, oneLine } from "../text-table.ts";

export interface DisruptionSectionsOptions {
  readonly bold: (text: string) => string;
  readonly nowMs: number;
}

/** Why a node stays or goes, as sections of text. */
export function disruptionSections(
  explanation: DisruptionExplanation,
  { bold, nowMs }: DisruptionSectionsOptions,
): readonly (readonly string[])[] {
  return [
    [bold(oneLine(headline(explanation))), ...factLines(explanation)],
    blockerLines(explanation, nowMs),
    moveLines(explanation),
    verdictLines(explanation, nowMs),
  ];
}

function headline({ node, nodePool, outcome, cause }: DisruptionExplanation): string {
  const who = `Node ${node}${nodePool === undefined ? "" : ` of NodePool ${nodePool}`}`;
  switch (outcome) {
    case "going":
      return `${who} is being removed: ${cause}.`;
    case "would-go":
      return `${who} would go now. ${cause}.`;
    case "kept":
      return `${who} stays: ${cause}.`;
  }
}

function factLines({ instanceType, capacityType, price, movablePods }: DisruptionExplanation): readonly string[] {
  if (instanceType === undefined) return [];
  const pods = movablePods === 0 ? "no pods to move" : `${countText(movablePods, "pod")} to move`;
  const cost = price === undefined ? "price not known" : `$${price.toFixed(4)}/hour`;
  return [oneLine(`${instanceType}, ${capacityType ?? "unknown capacity type"}, ${cost}, ${pods}`)];
}

function blockerLines({ blockers, reasons, outcome }: DisruptionExplanation, nowMs: number): readonly string[] {
  const isSaid = blockers.length === 1 && blockers.every((one) => one.remedies.length === 0 && !one.endsAtMs);
  if (blockers.length === 0 || isSaid) return [];
  const line = (blocker: DisruptionBlocker): readonly string[] => [
    oneLine(`  ${reasonText(blocker, reasons.length)}${blocker.text}${alsoText(blocker)}`),
    ...endLines(blocker, nowMs),
    ...blocker.remedies.map((remedy) => oneLine(`    - ${remedy}`)),
  ];
  const what = outcome === "would-go" ? "What blocks it for another reason" : "What blocks it";
  return [`${what}, and what would unblock it:`, ...blockers.flatMap(line)];
}

/** Named only where a node can go for more than one reason. */
function reasonText({ blocks }: DisruptionBlocker, reasons: number): string {
  return reasons > 1 ? `${blocks.join(", ")}: ` : "";
}

function alsoText({ alsoPods = [] }: DisruptionBlocker): string {
  return alsoPods.length === 0 ? "" : `, nor of ${podSummary(alsoPods)}`;
}

function endLines({ endsAtMs }: DisruptionBlocker, nowMs: number): readonly string[] {
  return endsAtMs === undefined ? [] : [`    ends ${rfc3339(endsAtMs)}, ${inText(endsAtMs - nowMs)}`];
}

function inText(ms: number): string {
  return ms <= 0 ? "which is over" : `in ${durationText(ms)}`;
}

/** What would happen for each reason, if nothing blocked it. */
function moveLines({ reasons, node }: DisruptionExplanation): readonly string[] {
  return reasons.flatMap(({ reason, isBlocked, move }) => {
    if (move === undefined) return [];
    const when = isBlocked ? ", if nothing blocked it" : "";
    return [oneLine(`${reason}${when}: ${moveText(move)}`), ...destinationLines(move, node)];
  });
}

function destinationLines({ nodes, replacements, moves }: DisruptionMove, node: string): readonly string[] {
  const byTarget = new Map<PodMove["to"], string[]>();
  for (const { pod, to } of moves) {
    const known = byTarget.get(to);
    if (known === undefined) byTarget.set(to, [pod]);
    else known.push(pod);
  }
  const others = nodes.filter((name) => name !== node);
  return [
    ...(others.length > 0 ? [oneLine(`  goes together with: ${others.join(", ")}`)] : []),
    ...(byTarget.size === 0 ? ["  no pods have to move"] : []),
    ...[...byTarget].map(([to, pods]) => oneLine(`  ${targetText(to, replacements)}: ${podSummary(pods)}`)),
  ];
}

function targetText(to: PodMove["to"], replacements: DisruptionMove["replacements"]): string {
  if (to === undefined) return withoutPlaceText;
  if (typeof to === "string") return `to ${to}`;
  const { instanceTypes = [], nodePool = "", capacityType = "", price } = replacements[to] ?? {};
  const facts = [capacityType, ...(price === undefined ? [] : [`$${price.toFixed(4)}/hour`])].join(", ");
  return `to a new ${instanceTypes[0] ?? "node"} of NodePool ${nodePool} (${facts})`;
}

/** Says nothing of a node that stays: the method is not for it, or it has been said. */
const unspokenCodes: ReadonlySet<string> = new Set<DisruptionExplanation["verdicts"][number]["code"]>([
  ...(["static-pool", "dynamic-pool", "not-drifted", "empty", "not-empty"] as const),
  ...(["too-few-nodes", "possible", "chosen"] as const),
]);

/** What methods found out beyond what blocks it. */
function verdictLines({ outcome, verdicts, blockers }: DisruptionExplanation, nowMs: number): readonly string[] {
  if (outcome !== "kept") return [];
  const said = new Set(blockers.map(({ text }) => text));
  const rows = verdicts
    .filter(({ code, text }) => !unspokenCodes.has(code) && !said.has(text))
    .map(({ method, text, atMs }) => [
      method,
      oneLine(atMs === undefined ? text : `${text} (${durationText(nowMs - atMs)} ago)`),
    ]);
  return rows.length === 0 ? [] : formatTable([{ title: "METHOD" }, { title: "WHAT IT FOUND" }], rows);
}
