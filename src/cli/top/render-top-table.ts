import { hoursPerMonth } from "../plan/plan-report.ts";
import { priceSourceLines, priceSourcesOf } from "../prices/price-sources.ts";
import { countText, formatTable, joinSections, oneLine } from "../text-table.ts";
import type { ShownAmounts } from "./pod-use.ts";
import { coresText, gibText, topColumns, useText } from "./top-columns.ts";
import type { TopTotals, TopView } from "./top-report.ts";
import type { TopRow } from "./top-rows.ts";

/** The nodes as a plain table, as wide as it has to be, with sums and notes. */
export function renderTopTable({ rows, totals, nowMs, notes }: TopView): string {
  const columns = topColumns(rows);
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row, { nowMs, use: { kind: "amounts" } })));
  return joinSections([
    rows.length === 0 ? [] : formatTable(columns, cells),
    [countsText(totals), ...useLines(totals, { kind: "share" }), ...priceLines(totals), ...sourceLines(rows)],
    notes.map((note) => oneLine(`note: ${note}`)),
  ]);
}

/** `12 nodes, 87 pods on them, 3 pending` */
export function countsText({ nodes, pods, pendingPods }: TopTotals): string {
  return `${countText(nodes, "node")}, ${countText(pods, "pod")} on ${nodes === 1 ? "it" : "them"}, ${pendingPods} pending`;
}

/** One line for each resource: how much of what the nodes have is requested. */
export function useLines(
  { requested, allocatable }: TopTotals,
  form: Parameters<typeof useText>[1],
): readonly string[] {
  const line = (resource: keyof ShownAmounts, text: (amount: number) => string): readonly string[] => {
    const use = { requested: requested[resource], allocatable: allocatable[resource] };
    if (use.requested === 0 && use.allocatable === 0) return [];
    const amounts = `${text(use.requested)} of ${text(use.allocatable)} requested`;
    return [`${resource.padEnd(6)} ${useText(use, form).padStart(4)}  ${amounts}`];
  };
  return [...line("cpu", coresText), ...line("memory", gibText), ...line("gpu", coresText)];
}

export function priceLines({ nodes, pricePerHour, nodesWithoutPrice }: TopTotals): readonly string[] {
  if (nodes === nodesWithoutPrice) return nodes === 0 ? [] : ["no prices are known"];
  const missing = nodesWithoutPrice === 0 ? "" : `, without ${countText(nodesWithoutPrice, "node")} of unknown price`;
  return [`$${pricePerHour.toFixed(4)}/hour, $${(pricePerHour * hoursPerMonth).toFixed(2)}/month${missing}`];
}

/** Where the prices come from, each source once. */
function sourceLines(rows: readonly TopRow[]): readonly string[] {
  return priceSourceLines(
    priceSourcesOf(rows.map(({ pricePerHour = 0, priceSource }) => ({ price: pricePerHour, priceSource }))),
  );
}
