import { styleText } from "node:util";
import { hoursPerMonth, type PlanReport, type ReportedNode } from "./plan-report.ts";
import { formatTable, oneLine, type TextColumn, truncateText } from "./text-table.ts";

export interface PlanTableOptions {
  /** One row a node, with all it says, instead of one for nodes alike. */
  readonly wide: boolean;
  readonly color: boolean;
}

type Style = "bold" | "dim" | "red" | "yellow";

/** A plan for people. */
export function renderPlanTable(report: PlanReport, { wide, color }: PlanTableOptions): string {
  const paint = (style: Style, text: string): string =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const sections = [
    report.newNodes.length === 0
      ? []
      : withTitleStyle(wide ? allNodeRows(report.newNodes) : groupedNodeRows(report.newNodes), paint),
    existingNodeLines(report.existingNodes),
    summaryLines(report).map((line) => paint("bold", line)),
    unplacedLines(report).map((line, index) => (index === 0 ? paint("red", line) : line)),
    report.notes.map((note) => paint("yellow", `note: ${oneLine(note)}`)),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function withTitleStyle(
  [title = "", ...rows]: readonly string[],
  paint: (style: Style, text: string) => string,
): readonly string[] {
  return [paint("dim", title), ...rows];
}

const podsShown = 60;

const nodeColumns: readonly TextColumn[] = [
  { title: "POOL" },
  { title: "INSTANCE TYPE" },
  { title: "CAPACITY" },
  { title: "ZONE" },
  { title: "CPU", align: "right" },
  { title: "MEMORY", align: "right" },
  { title: "$/HOUR", align: "right" },
  { title: "$/MONTH", align: "right" },
];

/** Nodes of one pool, type, capacity type and zone in a row; dearest rows first. */
function groupedNodeRows(nodes: readonly ReportedNode[]): readonly string[] {
  const groups = [
    ...groupBy(nodes, (node) => JSON.stringify([node.nodePool, node.instanceType, node.capacityType, node.zones])),
  ];
  const rows = groups
    .map(([, alike]) => alike)
    .sort((a, b) => totalPrice(b) - totalPrice(a) || (rowName(a) < rowName(b) ? -1 : 1))
    .map((alike) => [String(alike.length), ...nodeCells(alike), podSummary(alike.flatMap(({ pods }) => pods))]);
  return formatTable(
    [{ title: "NODES", align: "right" }, ...nodeColumns, { title: "PODS", maxWidth: podsShown }],
    rows,
  );
}

function rowName([first]: readonly ReportedNode[]): string {
  return [first?.nodePool, first?.instanceType, first?.capacityType, ...(first?.zones ?? [])].join(" ");
}

function allNodeRows(nodes: readonly ReportedNode[]): readonly string[] {
  const rows = nodes.map((node) => [
    ...nodeCells([node]),
    String(node.instanceTypes.length),
    String(node.pods.length),
    node.pods.join(","),
    Object.entries(node.requirements)
      .map(([key, text]) => `${key} ${text}`)
      .join("; "),
  ]);
  const more: readonly TextColumn[] = [
    { title: "TYPES", align: "right" },
    { title: "#", align: "right" },
    { title: "PODS" },
    { title: "REQUIREMENTS" },
  ];
  return formatTable([...nodeColumns, ...more], rows);
}

function nodeCells(alike: readonly ReportedNode[]): readonly string[] {
  const [first] = alike;
  if (first === undefined) return [];
  const price = totalPrice(alike);
  return [
    first.nodePool,
    first.instanceType ?? "-",
    first.capacityType ?? "-",
    zoneText(first.zones),
    percent(alike.map(({ fill }) => fill.cpu)),
    percent(alike.map(({ fill }) => fill.memory)),
    price.toFixed(4),
    (price * hoursPerMonth).toFixed(2),
  ];
}

function zoneText(zones: readonly string[]): string {
  const [first = "-", ...others] = zones;
  return others.length === 0 ? first : `any of ${zones.length}`;
}

/** Of all of them together, as they are equally large. */
function percent(shares: readonly (number | undefined)[]): string {
  const known = shares.filter((share) => share !== undefined);
  if (known.length === 0) return "-";
  return `${Math.round((100 * known.reduce((sum, share) => sum + share, 0)) / known.length)}%`;
}

function totalPrice(nodes: readonly ReportedNode[]): number {
  return nodes.reduce((sum, { price }) => sum + price, 0);
}

/** `web ×12, api ×3, default/solo`: pods that are numbered belong together. */
export function podSummary(pods: readonly string[]): string {
  const groups = [...groupBy(pods, (pod) => pod.replace(/-\d+$/, ""))];
  return groups
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([stem, all]) => (all.length === 1 ? (all[0] ?? stem) : `${stem} ×${all.length}`))
    .join(", ");
}

function existingNodeLines(placed: PlanReport["existingNodes"]): readonly string[] {
  const rows = Object.entries(placed).map(([node, pods]) => [node, String(pods.length), podSummary(pods)]);
  if (rows.length === 0) return [];
  return formatTable(
    [{ title: "EXISTING NODE" }, { title: "#", align: "right" }, { title: "PODS", maxWidth: podsShown }],
    rows,
  );
}

function summaryLines({ totals, existingNodes }: PlanReport): readonly string[] {
  const onNodes = Object.values(existingNodes).reduce((sum, pods) => sum + pods.length, 0);
  const onNew = totals.pods - totals.unschedulable - onNodes;
  const parts = [
    ...(onNew > 0 ? [`${onNew} on ${countText(totals.newNodes, "new node")}`] : []),
    ...(onNodes > 0 ? [`${onNodes} on nodes that exist`] : []),
    ...(totals.unschedulable > 0 ? [`${totals.unschedulable} cannot be placed`] : []),
  ];
  const first = totals.pods === 0 ? "No pending pods." : `${countText(totals.pods, "pod")}: ${parts.join(", ")}.`;
  if (totals.newNodes === 0) return [first];
  const above = totals.gap === undefined ? "" : `, ${(100 * totals.gap).toFixed(1)}% above it`;
  const bound = `resource bound $${totals.resourceBoundPerHour.toFixed(4)} an hour${above}`;
  const cost = `$${totals.pricePerHour.toFixed(4)} an hour, $${totals.pricePerMonth.toFixed(2)} a month; ${bound}.`;
  const least = totals.lowerBoundPerHour;
  if (least === undefined) return [first, cost];
  const over = least > 0 ? `; this one is ${(100 * (totals.pricePerHour / least - 1)).toFixed(1)}% above that` : "";
  return [first, cost, `No plan for these pods costs less than $${least.toFixed(4)} an hour${over}.`];
}

/** One line a reason: pods of one workload that are refused for the same one share it. */
function unplacedLines({ refusals }: PlanReport): readonly string[] {
  if (refusals.length === 0) return [];
  const groups = [...groupBy(refusals, ({ pod, message }) => `${pod.replace(/-\d+$/, "")}\n${message}`)];
  const lines = groups.map(([, alike]) => {
    const [first] = alike;
    const who = podSummary(alike.map(({ pod }) => pod));
    return `  ${oneLine(truncateText(who, podsShown))}: ${oneLine(first?.message ?? "")}`;
  });
  return ["Cannot be placed:", ...lines];
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const known = groups.get(key(item));
    if (known === undefined) groups.set(key(item), [item]);
    else known.push(item);
  }
  return groups;
}
