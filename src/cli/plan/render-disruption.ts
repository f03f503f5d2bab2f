import { markedHourlyPrice, priceSourceLines } from "../prices/price-sources.ts";
import { countText, formatTable, joinSections, oneLine } from "../text-table.ts";
import type { DisruptionReport, ReportedCommand, ReportedMethod } from "./disruption-report.ts";
import { nodeOutcomes, priceChangeText } from "./node-outcomes.ts";
import { podSummary } from "./pod-summary.ts";
import { type ReportFormat, type ReportTextOptions, renderReport } from "./render-report.ts";

/** Renders what disruption would do in the requested format. */
export function renderDisruption(report: DisruptionReport, format: ReportFormat): string {
  return renderReport(report, format, disruptionText);
}

function disruptionText(report: DisruptionReport, { isWide, bold }: ReportTextOptions): string {
  const { next, methods } = report;
  const others = methods.filter(
    ({ method, commands, invalid }) => method !== next?.method && commands.length + invalid.length > 0,
  );
  return joinSections([
    ...(next === undefined ? [] : [[bold(`${next.method} acts:`), ...next.commands.flatMap(commandLines)]]),
    ...others.map((method) => methodLines(method, bold)),
    [...summaryLines(report).map(bold), ...priceSourceLines(report.priceSources, { noun: false })],
    ...(isWide ? methods.map(verdictRows) : [stayingRows(report)]),
  ]);
}

/** A method that is asked only if none before it has a command. */
function methodLines({ method, commands, invalid }: ReportedMethod, bold: (text: string) => string): readonly string[] {
  return [
    bold(`${method} would then act, if nothing before it did:`),
    ...commands.flatMap(commandLines),
    ...invalid.map(({ nodes, failure }) => `  ${nodes.join(", ")}: would not hold after 15 seconds (${failure})`),
  ];
}

export function commandLines(command: ReportedCommand): readonly string[] {
  const { decision, nodes, replacements, existingNodes, savings } = command;
  return [
    `  ${decision} ${nodes.map(oneLine).join(", ")}: ${priceChangeText(savings)}`,
    ...replacements.map(
      (node) =>
        `    new ${node.instanceType ?? "node of the template"} of NodePool ${node.nodePool} (${node.capacityType}, ${markedHourlyPrice(node.price, node.priceSource)}): ${podSummary(node.pods) || "no pods"}`,
    ),
    ...Object.entries(existingNodes).map(([node, pods]) => `    to ${node}: ${podSummary(pods)}`),
  ];
}

function summaryLines({ next, totals }: DisruptionReport): readonly string[] {
  const cost = `${countText(totals.nodes, "node")}, $${totals.pricePerHour.toFixed(4)}/hour`;
  return next === undefined
    ? [`${cost}. Nothing would be disrupted now.`]
    : [`${cost}. Disrupting now would save $${totals.savings.toFixed(4)}/hour.`];
}

/** One line a node: what the last method that looked at it found. */
function stayingRows(report: DisruptionReport): readonly string[] {
  const rows = [...nodeOutcomes(report).values()]
    .filter(({ goes }) => !goes)
    .map(({ node, nodePool, text }) => [node, nodePool ?? "-", oneLine(text)]);
  if (rows.length === 0) return [];
  return formatTable([{ title: "NODE THAT STAYS" }, { title: "POOL" }, { title: "WHY" }], rows);
}

function verdictRows({ method, verdicts }: ReportedMethod): readonly string[] {
  const rows = verdicts.map(({ node, nodePool, code, text }) => [node, nodePool ?? "-", code, oneLine(text)]);
  if (rows.length === 0) return [];
  const titles = [method.toUpperCase(), "POOL", "VERDICT", "WHY"].map((title) => ({ title }));
  return formatTable(titles, rows);
}
