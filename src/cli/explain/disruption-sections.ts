import type { DisruptionBlocker } from "../../core/explain/disruption-blockers.ts";
import { wholeSeconds } from "../../core/explain/disruption-remedies.ts";
import { type DisruptionExplanation, type DisruptionMove, moveText } from "../../core/explain/explain-disruption.ts";
import { formatDurationMs } from "../../util/duration.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { podSummary } from "../plan/pod-summary.ts";
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
  if (price === undefined) return [];
  const pods = movablePods === 0 ? "no pods to move" : `${countText(movablePods, "pod")} to move`;
  return [oneLine(`${instanceType}, ${capacityType ?? "unknown capacity type"}, $${price.toFixed(4)}/hour, ${pods}`)];
}

function blockerLines({ blockers, reasons }: DisruptionExplanation, nowMs: number): readonly string[] {
  const isSaid = blockers.length === 1 && blockers.every((one) => one.remedies.length === 0 && !one.endsAtMs);
  if (blockers.length === 0 || isSaid) return [];
  const line = (blocker: DisruptionBlocker): readonly string[] => [
    oneLine(`  ${blocker.code}${reasonText(blocker, reasons.length)}: ${blocker.text}${alsoText(blocker)}`),
    ...endLines(blocker, nowMs),
    ...blocker.remedies.map((remedy) => oneLine(`    - ${remedy}`)),
  ];
  return ["What blocks it, and what would unblock it:", ...blockers.flatMap(line)];
}

/** Named only where a node can go for more than one reason. */
function reasonText({ blocks }: DisruptionBlocker, reasons: number): string {
  return reasons > 1 ? ` (${blocks.join(", ")})` : "";
}

function alsoText({ alsoPods = [] }: DisruptionBlocker): string {
  return alsoPods.length === 0 ? "" : `, nor of ${podSummary(alsoPods)}`;
}

function endLines({ endsAtMs }: DisruptionBlocker, nowMs: number): readonly string[] {
  return endsAtMs === undefined ? [] : [`    ends ${rfc3339(endsAtMs)}, ${inText(endsAtMs - nowMs)}`];
}

function inText(ms: number): string {
  return ms <= 0 ? "which is over" : `in ${formatDurationMs(wholeSeconds(ms))}`;
}

/** What would happen for each reason, if nothing blocked it. */
function moveLines({ reasons }: DisruptionExplanation): readonly string[] {
  return reasons.flatMap(({ reason, isBlocked, move }) => {
    if (move === undefined) return [];
    const when = isBlocked ? ", if nothing blocked it" : "";
    return [oneLine(`${reason}${when}: ${moveText(move)}`), ...destinationLines(move)];
  });
}

function destinationLines({ nodes, replacements, moves }: DisruptionMove): readonly string[] {
  const byTarget = new Map<string, string[]>();
  for (const { pod, to } of moves) {
    const target = targetText(to, replacements);
    const known = byTarget.get(target);
    if (known === undefined) byTarget.set(target, [pod]);
    else known.push(pod);
  }
  return [
    ...(nodes.length > 1 ? [oneLine(`  goes together with: ${nodes.join(", ")}`)] : []),
    ...(byTarget.size === 0 ? ["  no pods have to move"] : []),
    ...[...byTarget].map(([target, pods]) => oneLine(`  ${target}: ${podSummary(pods)}`)),
  ];
}

function targetText(to: string | number | undefined, replacements: DisruptionMove["replacements"]): string {
  if (to === undefined) return "ends with the node";
  if (typeof to === "string") return `to ${to}`;
  const { instanceTypes = [], nodePool = "", price = 0 } = replacements[to] ?? {};
  return `to a new ${instanceTypes[0] ?? "node"} of NodePool ${nodePool} ($${price.toFixed(4)}/hour)`;
}

function verdictLines({ verdicts }: DisruptionExplanation, nowMs: number): readonly string[] {
  // Where all methods say the same, it is in the headline.
  if (new Set(verdicts.map(({ text }) => text)).size < 2) return [];
  const rows = verdicts.map(({ method, code, text, atMs }) => [
    method,
    code,
    atMs === undefined ? text : `${text} (${formatDurationMs(wholeSeconds(nowMs - atMs))} ago)`,
  ]);
  return formatTable([{ title: "METHOD" }, { title: "VERDICT" }, { title: "WHY" }], rows);
}
