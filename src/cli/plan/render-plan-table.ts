import { styleText } from "node:util";
import { groupBy } from "../../util/group-by.ts";
import { priceSourceLines } from "../prices/price-sources.ts";
import {
  countText,
  formatTableWithin,
  joinSections,
  oneLine,
  terminalWidth,
  truncateText,
  wrapText,
} from "../text-table.ts";
import { allNodeRows, groupedNodeRows } from "./node-rows.ts";
import type { PlanReport } from "./plan-report.ts";
import { podSummary } from "./pod-summary.ts";

export interface PlanTableOptions {
  /** One row per node with all its pods and requirements, instead of one for nodes that are alike in 80 columns. */
  readonly wide: boolean;
  readonly color: boolean;
}

type Style = "bold" | "dim" | "red" | "yellow";

/** The plan as a table, with totals, unschedulable pods and notes. */
export function renderPlanTable(report: PlanReport, { wide, color }: PlanTableOptions): string {
  const paint = (style: Style, text: string): string =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const width = wide ? Number.POSITIVE_INFINITY : terminalWidth;
  const wrapped = (lines: readonly string[], indent = ""): readonly string[] =>
    lines.flatMap((line) => wrapText(line, { width, indent }));
  const [refusalTitle, ...refusals] = unschedulableLines(report);
  return joinSections([
    report.newNodes.length === 0
      ? []
      : withTitleStyle(wide ? allNodeRows(report.newNodes) : groupedNodeRows(report.newNodes), paint),
    existingNodeLines(report.existingNodes, width),
    [
      ...wrapped(summaryLines(report)).map((line) => paint("bold", line)),
      ...wrapped(priceSourceLines(report.priceSources)),
    ],
    refusalTitle === undefined ? [] : [paint("red", refusalTitle), ...wrapped(refusals, "    ")],
    wrapped(
      report.notes.map((note) => `note: ${oneLine(note)}`),
      "  ",
    ).map((line) => paint("yellow", line)),
  ]);
}

function withTitleStyle(
  [title = "", ...rows]: readonly string[],
  paint: (style: Style, text: string) => string,
): readonly string[] {
  return [paint("dim", title), ...rows];
}

function existingNodeLines(placed: PlanReport["existingNodes"], width: number): readonly string[] {
  const rows = Object.entries(placed).map(([node, pods]) => [node, String(pods.length), podSummary(pods)]);
  if (rows.length === 0) return [];
  return formatTableWithin(
    width,
    [
      { title: "EXISTING NODE", minWidth: 20 },
      { title: "#", align: "right" },
      { title: "PODS", minWidth: 20 },
    ],
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

/** So much of the names of pods is shown before their refusal. */
const podsShown = 60;

/** One line for all pods that are refused for the same reason, then how to find out more. */
function unschedulableLines({ refusals }: PlanReport): readonly string[] {
  if (refusals.length === 0) return [];
  const groups = [...groupBy(refusals, ({ message }) => message)].sort(([, a], [, b]) => b.length - a.length);
  const lines = groups.map(
    ([message, alike]) => `  ${refusedPods(alike.map(({ pod }) => oneLine(pod)))}: ${oneLine(message)}`,
  );
  const next = `  karpenter explain pod ${oneLine(refusals[0]?.pod ?? "")}`;
  return ["Unschedulable:", ...lines, "To see what would help, run with the same options:", next];
}

/** `default/web ×12`, or `15 pods (default/web ×12, default/api ×3)` of several workloads. */
function refusedPods(pods: readonly string[]): string {
  const names = podSummary(pods);
  const shown = truncateText(names, podsShown);
  return names.includes(", ") ? `${countText(pods.length, "pod")} (${shown})` : shown;
}
