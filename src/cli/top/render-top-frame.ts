import { styleText } from "node:util";
import { oneLine, truncateText } from "../text-table.ts";
import { type FittedColumn, fitColumns } from "./fit-columns.ts";
import { countsText, priceLines, useLines } from "./render-top-table.ts";
import { type CellContext, type CellStyle, type TopColumn, topColumns, type UseForm } from "./top-columns.ts";
import type { TopView } from "./top-report.ts";
import type { TopRow } from "./top-rows.ts";
import { sortKeyHelp, type TopScreenState } from "./top-screen-state.ts";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface FrameOptions {
  readonly size: ScreenSize;
  readonly state: TopScreenState;
  readonly color: boolean;
  /** What the user should know now, such as a lost connection. */
  readonly status: string;
}

/** One screen: sums, as many nodes as fit, and the keys. Never more lines or characters than the screen has. */
export function renderTopFrame(view: TopView, { size, state, color, status }: FrameOptions): readonly string[] {
  const paint = painter(color);
  const layout = frameLayout(view, size);
  const first = Math.min(state.scroll, lastScroll(view, size));
  const shown = view.rows.slice(first, first + layout.bodyRows);
  const lines = [
    ...layout.head.map((line) => cutTo(line, size.columns)),
    ...(layout.hasTitles ? [paint("title", titleLine(layout.columns))] : []),
    ...shown.map((row) => rowLine(row, layout, paint)),
  ];
  const body = [...lines, ...Array.from({ length: Math.max(0, size.rows - lines.length - layout.foot) }, () => "")];
  const footers = [
    paint("note", cutTo(oneLine(status === "" ? (view.notes[0] ?? "") : status), size.columns)),
    paint("dim", cutTo(`${positionText(view, first, shown.length)}  ${helpText(state)}`, size.columns)),
  ];
  return [...body, ...footers.slice(2 - layout.foot)].slice(0, Math.max(0, size.rows));
}

/** The furthest one can scroll: the last node is then at the bottom. */
export function lastScroll(view: TopView, size: ScreenSize): number {
  return Math.max(0, view.rows.length - frameLayout(view, size).bodyRows);
}

interface FrameLayout {
  readonly head: readonly string[];
  readonly hasTitles: boolean;
  readonly columns: readonly FittedColumn[];
  readonly context: CellContext;
  readonly bodyRows: number;
  readonly foot: 0 | 1 | 2;
}

const leastBodyRows = 3;

/** On a low screen the bars go first, then the sums, then the keys. */
function frameLayout(view: TopView, { columns: width, rows: height }: ScreenSize): FrameLayout {
  const use: UseForm = width >= 120 ? { kind: "bar", width: width >= 180 ? 10 : 5 } : { kind: "share" };
  const context = { nowMs: view.nowMs, use };
  const sums = [`${countsText(view.totals)}; ${priceLines(view.totals).join("") || "no price"}`];
  const bars = useLines(view.totals, { kind: "bar", width: Math.max(5, Math.min(40, width - 50)) });
  const heads = [[...sums, ...bars, ""], [...sums, ""], []];
  const head = heads.find((lines) => height - lines.length - 3 >= leastBodyRows) ?? [];
  const hasTitles = height >= 2;
  const foot = height >= 6 ? 2 : height >= 4 ? 1 : 0;
  const bodyRows = Math.max(0, height - head.length - Number(hasTitles) - foot);
  return { head, hasTitles, columns: columnsFor(view, width, context), context, bodyRows, foot };
}

function columnsFor(view: TopView, width: number, context: CellContext): readonly FittedColumn[] {
  const columns = topColumns(view.rows);
  return fitColumns(columns, { width, wanted: (column) => wantedWidth(column, view.rows, context) });
}

/** Over all rows, not only those on the screen: columns shall not jump while one scrolls. */
function wantedWidth({ title, cell }: TopColumn, rows: readonly TopRow[], context: CellContext): number {
  return rows.reduce((most, row) => Math.max(most, cell(row, context).length), title.length);
}

function titleLine(columns: readonly FittedColumn[]): string {
  return columns.map(({ column, width }) => aligned(column.title, column, width)).join("  ");
}

function rowLine(row: TopRow, { columns, context }: FrameLayout, paint: Painter): string {
  return columns
    .map(({ column, width }) =>
      paint(column.style?.(row) ?? "plain", aligned(column.cell(row, context), column, width)),
    )
    .join("  ");
}

function aligned(text: string, { align }: TopColumn, width: number): string {
  const cut = cutTo(text, width);
  return align === "right" ? cut.padStart(width) : cut.padEnd(width);
}

function cutTo(text: string, width: number): string {
  return width <= 0 ? "" : truncateText(text, width);
}

function positionText({ rows }: TopView, first: number, shown: number): string {
  return rows.length === 0 ? "no nodes" : `${first + 1}-${first + shown} of ${rows.length}`;
}

function helpText({ sort }: TopScreenState): string {
  return `q quit  j/k scroll  sort by ${sort}: ${sortKeyHelp}`;
}

type Painter = (style: CellStyle | "title" | "note", text: string) => string;

const styles = {
  plain: undefined,
  dim: "dim",
  good: "green",
  warning: "yellow",
  title: "bold",
  note: "yellow",
} as const;

function painter(color: boolean): Painter {
  return (style, text) => {
    const format = styles[style];
    return color && format !== undefined && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  };
}
