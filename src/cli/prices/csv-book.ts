import type { Finding, Position } from "../../api/manifest/finding.ts";
import type { Problem } from "../../api/problem.ts";
import type { BookDiscount, BookEntries, BookPrice } from "../../core/price-book.ts";
import { RowReader } from "./book-rows.ts";

const priceTitles = ["type", "zone", "capacityType", "price"];
const discountTitles = ["type", "family", "capacityType", "percent"];
const csvTitles = [...new Set([...priceTitles, ...discountTitles])];

/** One cell, and where it begins. */
interface Cell {
  readonly text: string;
  readonly column: number;
}

/** Whether a text is CSV with a line of titles, as opposed to YAML or JSON. */
export function isCsvBook(text: string): boolean {
  const [first = ""] = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return /^"?[A-Za-z]+"?([ \t]*,[ \t]*"?[A-Za-z]+"?)+[ \t]*$/.test(first);
}

/** Reads prices (rows with a `price`) and discounts (rows with a `percent`); problems have the line and cell. */
export function parseCsvBook(text: string, file: string): BookEntries & { readonly findings: readonly Finding[] } {
  const lines = text.split(/\r?\n/).map((line, index) => ({ cells: cellsOf(line), line: index + 1, written: line }));
  const [titles, ...rows] = lines.filter(({ written }) => written.trim() !== "" && !written.startsWith("#"));
  const names = titles?.cells.map(({ text: title }) => titleOf(title)) ?? [];
  const findings: Finding[] = (titles?.cells ?? []).flatMap(({ text: title, column }, index) =>
    csvTitles.includes(names[index] ?? "")
      ? []
      : [unknownTitle(title, { file, position: { line: titles?.line ?? 1, column } })],
  );
  const reader = new RowReader(file);
  const prices: BookPrice[] = [];
  const discounts: BookDiscount[] = [];
  for (const { cells, line } of rows) {
    const row = Object.fromEntries(
      cells.flatMap(({ text: value }, index) => (value === "" ? [] : [[names[index] ?? "", value]])),
    );
    const known = reader.problems.length;
    const isDiscount = row["percent"] !== undefined && row["price"] === undefined;
    const fields = Object.fromEntries(Object.entries(row).filter(([name]) => csvTitles.includes(name)));
    const entry = isDiscount ? reader.discount(fields, []) : reader.price(fields, [], undefined);
    if (entry !== undefined) "percent" in entry ? discounts.push(entry) : prices.push(entry);
    const column = (name: unknown): number => cells[names.indexOf(String(name))]?.column ?? 1;
    for (const problem of reader.problems.slice(known)) {
      findings.push(csvFinding(problem, { file, position: { line, column: column(problem.path[0]) } }));
    }
  }
  return { prices, discounts, findings };
}

/** `Capacity Type`, `capacity-type` and `capacityType` are one title, `instanceType` is `type`. */
function titleOf(text: string): string {
  const plain = text.toLowerCase().replace(/[^a-z]/g, "");
  const same = csvTitles.find((title) => title.toLowerCase() === plain);
  return same ?? (plain === "instancetype" ? "type" : text);
}

function unknownTitle(title: string, where: { readonly file: string; readonly position: Position }): Finding {
  const message = `${JSON.stringify(title.slice(0, 80))} is not a title of a price book`;
  return csvFinding({ code: "unknown-field", path: [], message, expected: csvTitles.join(", ") }, where);
}

function csvFinding(
  problem: Problem,
  { file, position }: { readonly file: string; readonly position: Position },
): Finding {
  return { ...problem, severity: "error", source: file, position };
}

/** The cells of a line; a quoted one may contain commas, and quotes written twice. */
function cellsOf(line: string): readonly Cell[] {
  const cells: Cell[] = [];
  const pattern = /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(,|$)/y;
  for (let match = pattern.exec(line); match !== null; match = pattern.exec(line)) {
    const [whole = "", quoted, plain = "", end] = match;
    const indent = whole.length - whole.trimStart().length;
    cells.push({ text: quoted?.replaceAll('""', '"') ?? plain.trim(), column: match.index + indent + 1 });
    if (end === "") break;
  }
  return cells;
}
