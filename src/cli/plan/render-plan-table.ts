import { styleText } from "node:util";
import { countText, formatTable, joinSections, oneLine, type TextColumn, truncateText } from "../text-table.ts";
import { hoursPerMonth, type PlanReport, type ReportedNode } from "./plan-report.ts";

export interface PlanTableOptions {
  /** One row per node with all its pods and requirements, instead of one row for nodes that are alike. */
  readonly wide: boolean;
  readonly color: boolean;
}

type Style = "bold" | "dim" | "red" | "yellow";

/** The plan as a table, with totals, unschedulable pods and notes. */
export function renderPlanTable(report: PlanReport, { wide, color }: PlanTableOptions): string {
  const paint = (style: Style, text: string): string =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const sections = [
    report.newNodes.length === 0
      ? []
      : withTitleStyle(wide ? allNodeRows(report.newNodes) : groupedNodeRows(report.newNodes), paint),
    existingNodeLines(report.existingNodes),
    summaryLines(report).map((line) => paint("bold", line)),
    unschedulableLines(report).map((line, index) => (index === 0 ? paint("red", line) : line)),
    report.notes.map((note) => paint("yellow", `note: ${oneLine(note)}`)),
  ];
  return joinSections(sections);
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

/** Nodes of one pool, type, capacity type and zone in a row; most expensive rows first. */
function groupedNodeRows(nodes: readonly ReportedNode[]): readonly string[] {
  const groups = [
    ...groupBy(nodes, (node) =>
      JSON.stringify([node.nodePool, node.instanceType, node.capacityType, node.zones, node.onlyJobs]),
    ),
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
    first.onlyJobs === true ? "while jobs run" : (price * hoursPerMonth).toFixed(2),
  ];
}

function zoneText(zones: readonly string[]): string {
  const [first = "-", ...others] = zones;
  return others.length === 0 ? first : `any of ${zones.length}`;
}

/** The mean share; the nodes of a row have the same size. */
function percent(shares: readonly (number | undefined)[]): string {
  const known = shares.filter((share) => share !== undefined);
  if (known.length === 0) return "-";
  return `${Math.round((100 * known.reduce((sum, share) => sum + share, 0)) / known.length)}%`;
}

function totalPrice(nodes: readonly ReportedNode[]): number {
  return nodes.reduce((sum, { price }) => sum + price, 0);
}

/** `web ×12, api ×3, default/solo`: pods whose names differ only by a trailing number are counted together. */
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
    ...(onNodes > 0 ? [`${onNodes} on existing nodes`] : []),
    ...(totals.unschedulable > 0 ? [`${totals.unschedulable} cannot be scheduled`] : []),
  ];
  const first = totals.pods === 0 ? "No pending pods." : `${countText(totals.pods, "pod")}: ${parts.join(", ")}.`;
  if (totals.newNodes === 0) return [first];
  const { pricePerHour, pricePerMonth, jobsPricePerHour, resourceBoundPerHour, lowerBoundPerHour, gap } = totals;
  const above =
    gap === undefined ? "" : `; ${(100 * gap).toFixed(1)}% above the resource bound of ${hourly(resourceBoundPerHour)}`;
  const ofJobs = jobsPricePerHour === undefined ? "" : ` without ${hourly(jobsPricePerHour)} while Jobs run`;
  const cost = `${hourly(pricePerHour)}, $${pricePerMonth.toFixed(2)}/month${ofJobs}${above}.`;
  if (lowerBoundPerHour === undefined) return [first, cost];
  const share =
    lowerBoundPerHour > 0 ? `; the plan is ${(100 * (pricePerHour / lowerBoundPerHour - 1)).toFixed(1)}% above it` : "";
  return [first, cost, `Lower bound on any plan for these pods: ${hourly(lowerBoundPerHour)}${share}.`];
}

function hourly(price: number): string {
  return `$${price.toFixed(4)}/hour`;
}

/** One line for the pods of one workload that are refused for the same reason, then how to find out more. */
function unschedulableLines({ refusals }: PlanReport): readonly string[] {
  if (refusals.length === 0) return [];
  const groups = [...groupBy(refusals, ({ pod, message }) => `${pod.replace(/-\d+$/, "")}\n${message}`)];
  const lines = groups.map(([, alike]) => {
    const [first] = alike;
    const who = podSummary(alike.map(({ pod }) => pod));
    return `  ${oneLine(truncateText(who, podsShown))}: ${oneLine(first?.message ?? "")}`;
  });
  const next = `To see what would help, run with the same options: karpenter explain pod ${oneLine(refusals[0]?.pod ?? "")}`;
  return ["Unschedulable:", ...lines, next];
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
