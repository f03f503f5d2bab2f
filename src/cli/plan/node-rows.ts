import { priceSourceText } from "../../core/price-source.ts";
import { groupBy } from "../../util/group-by.ts";
import { markedPrice } from "../prices/price-sources.ts";
import {
  formatTable,
  formatTableWithin,
  oneLine,
  type TextColumn,
  terminalWidth,
  truncateText,
} from "../text-table.ts";
import { machineText } from "./machine-size.ts";
import { hoursPerMonth, type ReportedNode } from "./plan-report.ts";
import { podSummary } from "./pod-summary.ts";

/**
 * Nodes of one pool, type, capacity type and zone together: what they are and cost, then how large they are, how full,
 * and their pods, which have a line of their own where there are many. The most expensive come first.
 */
export function groupedNodeRows(nodes: readonly ReportedNode[]): readonly string[] {
  const groups = groupBy(nodes, (node) =>
    JSON.stringify([node.nodePool, node.instanceType, node.capacityType, node.zones, node.price, node.onlyJobs]),
  );
  const sorted = [...groups.values()].sort(
    (a, b) => totalPrice(b) - totalPrice(a) || (rowName(a) < rowName(b) ? -1 : 1),
  );
  const [titles = "", ...rows] = formatTableWithin(terminalWidth, groupColumns, sorted.map(groupCells));
  return [titles, ...rows.flatMap((row, index) => [row, ...detailLines(sorted[index] ?? [])])];
}

const groupColumns: readonly TextColumn[] = [
  { title: "NODES", align: "right" },
  { title: "POOL", minWidth: 8 },
  { title: "INSTANCE TYPE", minWidth: 13 },
  { title: "CAPACITY" },
  { title: "ZONE", minWidth: 10 },
  { title: "$/HOUR", align: "right" },
  { title: "TOTAL", align: "right" },
];

function groupCells(alike: readonly ReportedNode[]): readonly string[] {
  const [first] = alike;
  if (first === undefined) return [];
  return [
    String(alike.length),
    first.nodePool,
    first.instanceType ?? "-",
    first.capacityType ?? "-",
    zonesText(first.zones),
    markedPrice(first.price, first.priceSource),
    markedPrice(totalPrice(alike), first.priceSource),
  ];
}

/** Under the name of the pool. */
const detailIndent = " ".repeat("NODES  ".length);

function detailLines(alike: readonly ReportedNode[]): readonly string[] {
  const [first] = alike;
  const parts = [
    ...(first?.machine === undefined ? [] : [machineText(first.machine)]),
    ...fillTexts(alike),
    ...(first?.onlyJobs === true ? ["only while jobs run"] : []),
  ];
  const about = detailIndent + parts.join(", ");
  const pods = oneLine(podSummary(alike.flatMap((node) => node.pods)));
  if (pods === "") return [about];
  const together = `${about}: ${pods}`;
  return together.length <= terminalWidth
    ? [together]
    : [`${about}:`, truncateText(detailIndent + pods, terminalWidth)];
}

function fillTexts(alike: readonly ReportedNode[]): readonly string[] {
  const [cpu, memory] = [percent(alike.map(({ fill }) => fill.cpu)), percent(alike.map(({ fill }) => fill.memory))];
  return cpu === undefined || memory === undefined ? [] : [`${cpu} cpu and ${memory} memory requested`];
}

function rowName([first]: readonly ReportedNode[]): string {
  return [first?.nodePool, first?.instanceType, first?.capacityType, ...(first?.zones ?? [])].join(" ");
}

/** One row a node, with everything there is to say. */
export function allNodeRows(nodes: readonly ReportedNode[]): readonly string[] {
  return formatTable(wideColumns, nodes.map(wideCells));
}

const wideColumns: readonly TextColumn[] = [
  { title: "POOL" },
  { title: "INSTANCE TYPE" },
  { title: "MACHINE" },
  { title: "CAPACITY" },
  { title: "ZONES" },
  { title: "CPU", align: "right" },
  { title: "MEMORY", align: "right" },
  { title: "$/HOUR", align: "right" },
  { title: "$/MONTH", align: "right" },
  { title: "PRICE" },
  { title: "TYPES", align: "right" },
  { title: "#", align: "right" },
  { title: "PODS" },
  { title: "REQUIREMENTS" },
];

function wideCells(node: ReportedNode): readonly string[] {
  const { price, priceSource, machine, fill, pods } = node;
  return [
    node.nodePool,
    node.instanceType ?? "-",
    machine === undefined ? "-" : machineText(machine),
    node.capacityType ?? "-",
    node.zones.join(",") || "-",
    percent([fill.cpu]) ?? "-",
    percent([fill.memory]) ?? "-",
    markedPrice(price, priceSource),
    node.onlyJobs === true ? "while jobs run" : markedPrice(price * hoursPerMonth, priceSource, 2),
    priceSource === undefined ? "-" : priceSourceText(priceSource),
    String(node.instanceTypes.length),
    String(pods.length),
    pods.join(","),
    Object.entries(node.requirements)
      .map(([key, text]) => `${key} ${text}`)
      .join("; "),
  ];
}

/** `us-east-1a,b,c`: what they have in common is written once. */
function zonesText([first = "-", ...others]: readonly string[]): string {
  let common = first.length - 1;
  while (common > 0 && others.some((zone) => !zone.startsWith(first.slice(0, common)))) common--;
  return [first, ...others.map((zone) => zone.slice(common))].join(",");
}

/** The mean share; the nodes of a row have the same size. */
function percent(shares: readonly (number | undefined)[]): string | undefined {
  const known = shares.filter((share) => share !== undefined);
  if (known.length === 0) return undefined;
  return `${Math.round((100 * known.reduce((sum, share) => sum + share, 0)) / known.length)}%`;
}

function totalPrice(nodes: readonly ReportedNode[]): number {
  return nodes.reduce((sum, { price }) => sum + price, 0);
}
