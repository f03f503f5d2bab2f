import { styleText } from "node:util";
import { describeReason } from "../../core/explain/describe-reason.ts";
import type { Edit } from "../../core/explain/edit.ts";
import type { Explanation, NodeFinding, RefusalReason, Suggestion } from "../../core/explain/explanation.ts";
import { priceSourceText } from "../../core/price-source.ts";
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
    preferenceLines(explanation),
    suggestionLines(explanation),
    nextStepLines(explanation),
    poolLines(explanation),
    nodeLines(explanation.nodes),
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

function placementDetails({ outcome }: Explanation): readonly string[] {
  if (outcome.kind !== "on-new-node") return [];
  const { instanceTypes, price, priceSource, zones, pods } = outcome;
  const source = priceSource === undefined ? "" : ` (${priceSourceText(priceSource)})`;
  return [
    `Types:  ${firstNames(instanceTypes)}`,
    oneLine(`Price:  from $${price.toFixed(4)}/hour${source}`),
    ...(zones.length === 0 ? [] : [`Zones:  ${firstNames(zones)}`]),
    ...(pods.length === 0 ? [] : [`With:   ${firstNames(pods)}`]),
  ];
}

/** What the pod would rather have, and does without already. */
function preferenceLines({ outcome, droppedPreferences = [] }: Explanation): readonly string[] {
  if (droppedPreferences.length === 0) return [];
  const isPlaced = outcome.kind === "on-node" || outcome.kind === "on-new-node";
  return [
    isPlaced ? "Preferences it does without:" : "It has no place without its preferences either:",
    ...droppedPreferences.map(({ text, because }) => `  ${text}${because === undefined ? "" : `: ${because}`}`),
  ];
}

/** What a person does about pools that are not ready: no change of theirs was checked. */
function nextStepLines({ pools }: Explanation): readonly string[] {
  const steps = pools.flatMap(({ pool, reasons }) =>
    reasons.flatMap((reason) =>
      reason.code === "pool-unusable" && reason.nextStep !== undefined
        ? [`  NodePool ${pool}: ${reason.nextStep}`]
        : [],
    ),
  );
  return steps.length === 0 ? [] : ["Next steps:", ...steps];
}

function firstNames(names: readonly string[]): string {
  const more = names.length > listedMax ? ` and ${names.length - listedMax} more` : "";
  return `${names.slice(0, listedMax).join(", ")}${more}`;
}

/** Each pool with its reasons; not where the headline says all of it. */
function poolLines({ pools, outcome, cause }: Explanation): readonly string[] {
  const lines = pools.map(({ pool, reasons }) => ({
    pool,
    texts:
      reasons.length === 0
        ? ["would fit, but other pods used its capacity first"]
        : reasons.map((reason) => describeReason(reason, { kind: "pool", name: pool })),
  }));
  const isTold = lines.length === 1 && lines[0]?.texts.every((text) => cause.includes(text));
  if (lines.length === 0 || isTold === true) return [];
  const width = Math.max(...lines.map(({ pool }) => pool.length));
  return [
    outcome.kind === "on-new-node" ? "NodePools that did not fit:" : "NodePools, nearest first:",
    ...lines.flatMap(({ pool, texts }) =>
      texts.map((text, index) => `  ${(index === 0 ? pool : "").padEnd(width)}  ${text}`),
    ),
  ];
}

const nodesShown = 3;

/** What nodes fail for, in a word or two. */
const reasonWords: Readonly<Record<RefusalReason["code"], string>> = {
  taint: "a taint",
  requirements: "labels",
  "volume-requirements": "the place of a volume",
  "volume-limit": "too many volumes",
  "host-port": "a host port",
  resources: "too little room",
  topology: "spread or affinity",
  "instance-types": "instance types",
  "min-values": "minValues",
  limits: "limits",
  "node-limit": "limits",
  "reserved-capacity": "reserved capacity",
  "dynamic-resources": "resource claims",
  "no-templates": "instance types",
  "no-pools": "NodePools",
  "pool-unusable": "NodePools",
  "volume-unknown": "a volume",
  "invalid-pod": "the pod",
};

/** The nearest nodes with their reasons, and how many nodes fail for each reason. */
function nodeLines(nodes: readonly NodeFinding[]): readonly string[] {
  if (nodes.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { checks } of nodes) {
    const words = new Set(checks.map(({ reason }) => reasonWords[reason.code]));
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const summary = [...counts]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([word, count]) => `${word}: ${count}`);
  const nearest = nodes.slice(0, nodesShown).map(({ node, checks }) => {
    const texts = checks.map(({ reason }) => describeReason(reason, { kind: "node", name: node }));
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
  const title = "What to do, mildest first (each was checked: with it the pod can be scheduled):";
  if (suggestions.length > 0) return [title, ...suggestions.flatMap(suggestionText)];
  if (lastResorts.length === 0) return ["No change was found that makes it schedulable."];
  return [
    "No change was found that keeps the hardware the pod asks for. It can be scheduled only if it can do without:",
    ...lastResorts.flatMap(suggestionText),
  ];
}

function suggestionText(suggestion: Suggestion, index: number): readonly string[] {
  const { text, edits, commands, place, alsoPlaced, displaced, drift = [], remarks = [] } = suggestion;
  const where =
    "node" in place
      ? `node ${place.node}`
      : `a new node of NodePool ${place.pool}${place.instanceType === undefined ? "" : ` (${place.instanceType})`}`;
  const also = alsoPlaced === 0 ? "" : `; ${countText(alsoPlaced, "more pod")} can be scheduled too`;
  return [
    `  ${index + 1}. ${capitalized(text)}.`,
    ...(commands ?? edits.map(editText)).map((line) => `       ${line}`),
    `     It then runs on ${where}${also}.`,
    ...drift.map(({ pool, nodes }) => `     ${driftText(pool, nodes)}`),
    ...remarks.map((remark) => `     ${capitalized(remark)}.`),
    ...(displaced.length === 0 ? [] : [`     But these can no longer be scheduled: ${firstNames(displaced)}.`]),
  ];
}

function driftText(pool: string, nodes: number): string {
  const which = nodes === 1 ? "1 running node" : `${nodes} running nodes`;
  return `This replaces ${which} of NodePool ${pool} too: they drift, and their pods move, within its disruption budgets.`;
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Where the owner of the pod is not known, what to change in the manifest. */
function editText({ object, op, path, value }: Edit): string {
  const { kind, namespace, name, workload } = object;
  const who =
    workload === undefined
      ? `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`
      : `the pod template of ${workload.kind} ${workload.name}`;
  const what =
    op === "remove"
      ? `remove ${path}`
      : `${op === "add" ? "add" : "set"} ${path}${path === "" ? "" : " "}${JSON.stringify(value)}`;
  return `in ${who}: ${what}`;
}
