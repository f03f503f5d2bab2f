import { humanDuration } from "../../control-plane/tables/age.ts";
import { markedPrice } from "../prices/price-sources.ts";
import { oneLine } from "../text-table.ts";
import type { ShownAmounts } from "./pod-use.ts";
import type { TopRow } from "./top-rows.ts";

/** What cells depend on besides their row. */
export interface CellContext {
  readonly nowMs: number;
  /** How shares of resources are shown. */
  readonly use: UseForm;
}

/** `1.9/3.9 49%`, `██████░░░░  61%`, or the share alone. */
export type UseForm =
  | { readonly kind: "amounts" }
  | { readonly kind: "bar"; readonly width: number }
  | { readonly kind: "share" };

export type CellStyle = "plain" | "dim" | "good" | "warning";

export interface TopColumn {
  readonly id: ColumnId;
  readonly title: string;
  readonly align: "left" | "right";
  /** Columns with a low number are kept when the terminal is narrow. */
  readonly rank: number;
  readonly cell: (row: TopRow, context: CellContext) => string;
  readonly style?: (row: TopRow) => CellStyle;
}

export type ColumnId =
  | "name"
  | "pool"
  | "type"
  | "capacity"
  | "zone"
  | "status"
  | "cpu"
  | "memory"
  | "gpu"
  | "pods"
  | "age"
  | "price"
  | "reason";

const unknown = "-";

function textColumn(id: ColumnId, title: string, rank: number, text: (row: TopRow) => string | undefined): TopColumn {
  return { id, title, align: "left", rank, cell: (row) => oneLine(text(row) ?? unknown) };
}

const amountTexts: Readonly<Record<keyof ShownAmounts, (amount: number) => string>> = {
  cpu: coresText,
  memory: gibText,
  gpu: coresText,
};

function useColumn(id: keyof ShownAmounts, title: string, rank: number): TopColumn {
  const cell = ({ requested, allocatable }: TopRow, { use }: CellContext): string => {
    const amounts = { requested: requested[id], allocatable: allocatable[id] };
    if (amounts.requested === 0 && amounts.allocatable === 0) return unknown;
    return use.kind === "amounts" ? `${amountsText(amounts, id)} ${percentText(amounts)}` : useText(amounts, use);
  };
  const style = ({ requested, allocatable }: TopRow): CellStyle =>
    useStyle({ requested: requested[id], allocatable: allocatable[id] });
  return { id, title, align: "right", rank, cell, style };
}

function amountsText({ requested, allocatable }: Use, resource: keyof ShownAmounts): string {
  return `${amountTexts[resource](requested).replace("Gi", "")}/${amountTexts[resource](allocatable)}`;
}

/** In the order they are shown. */
const allColumns: readonly TopColumn[] = [
  textColumn("name", "NODE", 0, ({ name }) => name),
  textColumn("pool", "POOL", 9, ({ pool }) => pool),
  textColumn("type", "TYPE", 7, ({ instanceType }) => instanceType),
  textColumn("capacity", "CAPACITY", 11, ({ capacityType }) => capacityType),
  textColumn("zone", "ZONE", 12, ({ zone }) => zone),
  {
    ...textColumn("status", "STATUS", 8, ({ status }) => status),
    style: ({ status }) => (status === "Ready" ? "plain" : "warning"),
  },
  useColumn("cpu", "CPU", 1),
  useColumn("memory", "MEMORY", 2),
  useColumn("gpu", "GPU", 4),
  { id: "pods", title: "PODS", align: "right", rank: 5, cell: podsText },
  { id: "age", title: "AGE", align: "right", rank: 10, cell: ageText },
  { id: "price", title: "$/HOUR", align: "right", rank: 3, cell: priceText },
  {
    ...textColumn("reason", "WHY IT STAYS OR GOES", 6, ({ reason }) => reasonText(reason)),
    style: ({ reason }) => (reason?.goes === true ? "warning" : "dim"),
  },
];

/** Columns that say something about these rows. */
export function topColumns(rows: readonly TopRow[]): readonly TopColumn[] {
  const hasGpus = rows.some(({ allocatable, requested }) => allocatable.gpu + requested.gpu > 0);
  return allColumns.filter(({ id }) => id !== "gpu" || hasGpus);
}

/** What pods request of what there is. */
export interface Use {
  readonly requested: number;
  readonly allocatable: number;
}

/** With a bar, or the share alone. */
export function useText(use: Use, form: Exclude<UseForm, { readonly kind: "amounts" }>): string {
  const percent = percentText(use);
  return form.kind === "share" ? percent : `${barText(use, form.width)} ${percent.padStart(4)}`;
}

function barText(use: Use, width: number): string {
  const filled = Math.round(width * Math.min(1, Math.max(0, shareOf(use))));
  return `${"█".repeat(filled)}${"░".repeat(width - filled)}`;
}

function percentText(use: Use): string {
  return `${Math.round(100 * shareOf(use))}%`;
}

/** Pods may be on a node that reports nothing yet. */
function shareOf({ requested, allocatable }: Use): number {
  if (allocatable > 0) return requested / allocatable;
  return requested > 0 ? 1 : 0;
}

/** What is used well is what one pays for; what is nearly empty could be saved. */
function useStyle(use: Use): CellStyle {
  const share = shareOf(use);
  return share >= 0.7 ? "good" : share >= 0.3 ? "plain" : "warning";
}

function podsText({ pods, maxPods }: TopRow): string {
  return maxPods === undefined ? String(pods) : `${pods}/${maxPods}`;
}

function ageText({ createdMs }: TopRow, { nowMs }: CellContext): string {
  return createdMs === undefined ? unknown : humanDuration(Math.max(0, nowMs - createdMs));
}

/** An estimate is marked, as in plans. */
function priceText({ pricePerHour, priceSource }: TopRow): string {
  return pricePerHour === undefined ? unknown : markedPrice(pricePerHour, priceSource);
}

function reasonText(reason: TopRow["reason"]): string {
  return reason?.text ?? "";
}

export function coresText(cores: number): string {
  return String(Math.round(cores * 100) / 100);
}

export function gibText(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)}Gi`;
}
