import { priceChangeText } from "../../core/disruption/command.ts";
import { markedHourlyPrice, priceSourceLines } from "../prices/price-sources.ts";
import { countText, formatTable, joinSections, oneLine } from "../text-table.ts";
import type { DisruptionReport, ReportedCommand, ReportedMethod } from "./disruption-report.ts";
import { nodeOutcomes, savingText } from "./node-outcomes.ts";
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
    bold(`${method} would act if nothing before it did:`),
    ...commands.flatMap(commandLines),
    ...invalid.map(({ nodes, failure }) => `  ${nodes.join(", ")}: would not hold after 15 seconds (${failure})`),
  ];
}

export function commandLines(command: ReportedCommand): readonly string[] {
  const { decision, nodes, replacements, existingNodes, moves } = command;
  const withoutPlace = moves.filter(({ to }) => to === undefined).map(({ pod }) => pod);
  return [
    `  ${decision} ${nodes.map(oneLine).join(", ")}: ${savingText(command)}`,
    ...replacements.map((node) => `    ${replacementText(node)}: ${podSummary(node.pods) || "no pods"}`),
    ...Object.entries(existingNodes).map(([node, pods]) => `    to ${node}: ${podSummary(pods)}`),
    ...(withoutPlace.length === 0 ? [] : [`    ${withoutPlaceText}: ${podSummary(withoutPlace)}`]),
  ];
}

/** Of pods that cost nothing to evict, and those that a grace period does not protect for ever. (03:D-8, D-32) */
export const withoutPlaceText = "evicted without a place being looked for";

function replacementText(node: ReportedCommand["replacements"][number]): string {
  const { nodePool, instanceType, capacityType, price, priceSource } = node;
  const where = `of NodePool ${nodePool}`;
  return instanceType === undefined
    ? `new node of the template ${where} (${capacityType}, price not known)`
    : `new ${instanceType} ${where} (${capacityType}, ${markedHourlyPrice(price, priceSource)})`;
}

function summaryLines({ next, totals }: DisruptionReport): readonly string[] {
  const { nodes, unpricedNodes } = totals;
  const unpriced = unpricedNodes === 0 ? "" : `, without ${countText(unpricedNodes, "node")} of unknown price`;
  const cost = `${countText(nodes, "node")}, $${totals.pricePerHour.toFixed(4)}/hour${unpriced}`;
  if (next === undefined) return [`${cost}. Nothing would be disrupted now.`];
  const known = next.commands.filter(({ isSavingKnown }) => isSavingKnown);
  const savings = known.reduce((sum, command) => sum + command.savings, 0);
  const others = next.commands.length - known.length;
  const rest = others === 0 ? "" : `, without ${countText(others, "command")} of unknown price`;
  return [`${cost}. ${known.length === 0 ? unknownSaving : `What acts ${priceChangeText(savings)}${rest}.`}`];
}

const unknownSaving = "What that saves is not known.";

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
