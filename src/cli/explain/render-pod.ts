import { styleText } from "node:util";
import { describeReason } from "../../core/explain/describe-reason.ts";
import type { Edit } from "../../core/explain/edit.ts";
import type { Explanation, NodeFinding, Suggestion } from "../../core/explain/explanation.ts";
import { oneLine } from "../plan/text-table.ts";

export interface RenderPodOptions {
  readonly color: boolean;
  readonly notes?: readonly string[];
}

/** An explanation for people. */
export function renderPod(explanation: Explanation, { color, notes = [] }: RenderPodOptions): string {
  const bold = (text: string): string => (color ? styleText("bold", text, { validateStream: false }) : text);
  const sections = [
    headline(explanation).map(bold),
    placementDetails(explanation),
    poolLines(explanation),
    nodeLines(explanation.nodes),
    suggestionLines(explanation),
    notes.map((note) => `note: ${note}`),
  ];
  const lines = sections.filter((section) => section.length > 0).map((section) => section.map(printable).join("\n"));
  return `${lines.join("\n\n")}\n`;
}

/** Colours are ours, anything else that moves the cursor is not. */
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
      return [`${pod} has a place: ${cause}.`];
    case "unplaced":
    case "ignored":
      return [`${pod} cannot be placed: ${cause}.`];
  }
}

const listedMax = 5;

function placementDetails({ outcome, nearest, pools, nodes }: Explanation): readonly string[] {
  if (outcome.kind === "on-new-node") {
    const { instanceTypes, price, zones, pods } = outcome;
    return [
      `Types:  ${firstNames(instanceTypes)}`,
      `Price:  $${price.toFixed(4)} an hour at best`,
      ...(zones.length === 0 ? [] : [`Zones:  ${firstNames(zones)}`]),
      ...(pods.length === 0 ? [] : [`Beside: ${firstNames(pods)}`]),
    ];
  }
  if (nearest === undefined || pools.length + nodes.length === 1) return []; // the only one is told of below
  const where = { kind: nearest.kind, name: nearest.name };
  const reasons = nearest.reasons.map((reason) => `  ${describeReason(reason, where)}`);
  return [`Nearest miss: ${nearest.kind} ${nearest.name}`, ...reasons.slice(0, listedMax)];
}

function firstNames(names: readonly string[]): string {
  const more = names.length > listedMax ? ` and ${names.length - listedMax} more` : "";
  return `${names.slice(0, listedMax).join(", ")}${more}`;
}

function poolLines({ pools, outcome }: Explanation): readonly string[] {
  if (pools.length === 0) return [];
  const width = Math.max(...pools.map(({ pool }) => pool.length));
  return [
    outcome.kind === "on-new-node" ? "Pools tried before:" : "Pools, nearest first:",
    ...pools.flatMap(({ pool, reasons }) =>
      reasons.length === 0
        ? [`  ${pool.padEnd(width)}  would take it, but for what others have taken`]
        : reasons.map((reason, index) => {
            const name = index === 0 ? pool : "";
            return `  ${name.padEnd(width)}  ${reason.code}: ${describeReason(reason, { kind: "pool", name: pool })}`;
          }),
    ),
  ];
}

const nodesShown = 3;

/** The nearest in full, the others by what they fail. */
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
    return `  ${node}: ${texts.length === 0 ? "fails no check by itself" : texts.join("; ")}`;
  });
  const title =
    nodes.length === 1
      ? "The node that exists refuses it:"
      : `All ${nodes.length} nodes refuse it (${summary.join(", ")}); the nearest:`;
  return [title, ...nearest];
}

function suggestionLines({ outcome, suggestions }: Explanation): readonly string[] {
  if (outcome.kind === "on-node" || outcome.kind === "on-new-node") return [];
  if (suggestions.length === 0) return ["No change of ours would give it a place."];
  const [title, another] = [
    "Smallest change that gives it a place (checked by planning again):",
    "Others that would do:",
  ];
  return suggestions.flatMap((suggestion, index) => [
    ...(index === 0 ? [title] : index === 1 ? [another] : []),
    ...suggestionText(suggestion, index + 1),
  ]);
}

function suggestionText({ text, edits, place, alsoPlaced, displaced }: Suggestion, number: number): readonly string[] {
  const where =
    "node" in place
      ? `node ${place.node}`
      : `a new node of pool ${place.pool}${place.instanceType === undefined ? "" : ` (${place.instanceType})`}`;
  const also = alsoPlaced === 0 ? "" : `, and ${alsoPlaced} more ${alsoPlaced === 1 ? "pod gets" : "pods get"} a place`;
  return [
    `  ${number}. ${text}`,
    ...edits.map((edit) => `       ${editText(edit)}`),
    `     then it goes to ${where}${also}`,
    ...(displaced.length === 0 ? [] : [`     but these lose their place: ${firstNames(displaced)}`]),
  ];
}

function editText({ object, op, path, value }: Edit): string {
  const { kind, namespace, name, workload } = object;
  const template = workload === undefined ? "" : ` (the pod template of ${workload.kind} ${workload.name})`;
  const who = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}${template}`;
  return `${who}: ${op} ${path === "" ? "it" : path}${op === "remove" ? "" : ` ${JSON.stringify(value)}`}`;
}
