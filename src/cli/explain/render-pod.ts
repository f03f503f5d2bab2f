import { styleText } from "node:util";
import { describeReason } from "../../core/explain/describe-reason.ts";
import type { Edit } from "../../core/explain/edit.ts";
import type { Explanation, NodeFinding, Suggestion } from "../../core/explain/explanation.ts";
import { countText, joinSections, oneLine } from "../text-table.ts";

/** The explanation of a pod as text. */
export function renderPod(
  explanation: Explanation,
  { color, notes = [] }: { color: boolean; notes?: readonly string[] },
): string {
  const bold = (text: string): string => (color ? styleText("bold", text, { validateStream: false }) : text);
  const sections = [
    headline(explanation).map(bold),
    placementDetails(explanation),
    poolLines(explanation),
    nodeLines(explanation.nodes),
    suggestionLines(explanation),
    notes.map((note) => `note: ${note}`),
  ];
  return joinSections(sections.map((lines) => lines.map(printable)));
}

/** Keeps our own colour codes and removes any other control characters. */
function printable(line: string): string {
  return line
    .split(/(\u001b\[\d+m)/)
    .map((part) => (/^\u001b\[\d+m$/.test(part) ? part : oneLine(part)))
    .join("");
}

function headline({ pod, outcome, cause }: Explanation): readonly string[] {
  switch (outcome.kind) {
    case "on-node":
    case "on-new-node":
      return [`${pod} can be scheduled: ${cause}.`];
    case "unplaced":
    case "ignored":
      return [`${pod} cannot be scheduled: ${cause}.`];
  }
}

const listedMax = 5;

function placementDetails({ outcome, nearest, pools, nodes }: Explanation): readonly string[] {
  if (outcome.kind === "on-new-node") {
    const { instanceTypes, price, zones, pods } = outcome;
    return [
      `Types:  ${firstNames(instanceTypes)}`,
      `Price:  from $${price.toFixed(4)}/hour`,
      ...(zones.length === 0 ? [] : [`Zones:  ${firstNames(zones)}`]),
      ...(pods.length === 0 ? [] : [`With:   ${firstNames(pods)}`]),
    ];
  }
  if (nearest === undefined || pools.length + nodes.length === 1) return []; // the only one is listed below
  const where = { kind: nearest.kind, name: nearest.name };
  const reasons = nearest.reasons.map((reason) => `  ${describeReason(reason, where)}`);
  return [
    `Nearest miss: ${nearest.kind === "pool" ? "NodePool" : nearest.kind} ${nearest.name}`,
    ...reasons.slice(0, listedMax),
  ];
}

function firstNames(names: readonly string[]): string {
  const more = names.length > listedMax ? ` and ${names.length - listedMax} more` : "";
  return `${names.slice(0, listedMax).join(", ")}${more}`;
}

function poolLines({ pools, outcome }: Explanation): readonly string[] {
  if (pools.length === 0) return [];
  const width = Math.max(...pools.map(({ pool }) => pool.length));
  return [
    outcome.kind === "on-new-node" ? "NodePools that did not fit:" : "NodePools, nearest first:",
    ...pools.flatMap(({ pool, reasons }) =>
      reasons.length === 0
        ? [`  ${pool.padEnd(width)}  would fit, but other pods used its capacity first`]
        : reasons.map((reason, index) => {
            const name = index === 0 ? pool : "";
            return `  ${name.padEnd(width)}  ${reason.code}: ${describeReason(reason, { kind: "pool", name: pool })}`;
          }),
    ),
  ];
}

const nodesShown = 3;

/** The nearest nodes with their reasons, and how many nodes fail for each reason. */
function nodeLines(nodes: readonly NodeFinding[]): readonly string[] {
  if (nodes.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { checks } of nodes) {
    for (const code of new Set(checks.map(({ reason }) => reason.code))) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const summary = [...counts]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([code, count]) => `${code} ${count}`);
  const nearest = nodes.slice(0, nodesShown).map(({ node, checks }) => {
    const texts = checks.map(
      ({ check, reason }) => `${describeReason(reason, { kind: "node", name: node })} (${check})`,
    );
    return `  ${node}: ${texts.length === 0 ? "fails no single check" : texts.join("; ")}`;
  });
  const title =
    nodes.length === 1
      ? "The existing node does not fit:"
      : `None of ${nodes.length} nodes fits (${summary.join(", ")}); the nearest:`;
  return [title, ...nearest];
}

function suggestionLines({ outcome, suggestions, lastResorts = [] }: Explanation): readonly string[] {
  if (outcome.kind === "on-node" || outcome.kind === "on-new-node") return [];
  if (suggestions.length === 0) {
    const none = "No change was found that makes it schedulable";
    if (lastResorts.length === 0) return [`${none}.`];
    return [
      `${none} as the hardware it asks for. It can be scheduled only if it can do without:`,
      ...lastResorts.flatMap((suggestion, index) => suggestionText(suggestion, index + 1)),
    ];
  }
  const [title, another] = ["Smallest change that makes it schedulable (verified by planning again):", "Alternatives:"];
  return suggestions.flatMap((suggestion, index) => [
    ...(index === 0 ? [title] : index === 1 ? [another] : []),
    ...suggestionText(suggestion, index + 1),
  ]);
}

function suggestionText({ text, edits, place, alsoPlaced, displaced }: Suggestion, number: number): readonly string[] {
  const where =
    "node" in place
      ? `node ${place.node}`
      : `a new node of NodePool ${place.pool}${place.instanceType === undefined ? "" : ` (${place.instanceType})`}`;
  const also = alsoPlaced === 0 ? "" : `, and ${countText(alsoPlaced, "more pod")} can be scheduled`;
  return [
    `  ${number}. ${text}`,
    ...edits.map((edit) => `       ${editText(edit)}`),
    `     then it is scheduled to ${where}${also}`,
    ...(displaced.length === 0 ? [] : [`     but these can no longer be scheduled: ${firstNames(displaced)}`]),
  ];
}

function editText({ object, op, path, value }: Edit): string {
  const { kind, namespace, name, workload } = object;
  const template = workload === undefined ? "" : ` (the pod template of ${workload.kind} ${workload.name})`;
  const who = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}${template}`;
  return `${who}: ${op} ${path === "" ? "it" : path}${op === "remove" ? "" : ` ${JSON.stringify(value)}`}`;
}
