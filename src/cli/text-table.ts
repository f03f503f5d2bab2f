/** One column of a table. */
export interface TextColumn {
  readonly title: string;
  readonly align?: "left" | "right";
  /** Longer cells are truncated, with an ellipsis. */
  readonly maxWidth?: number;
  /** May be narrowed to this where the table would be too wide. */
  readonly minWidth?: number;
}

/** What a terminal shows without wrapping. */
export const terminalWidth = 80;

/** The lines of a table that is at most so wide, as far as its columns can be narrowed; the widest is narrowed first. */
export function formatTableWithin(
  width: number,
  columns: readonly TextColumn[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const widths = columns.map(({ title, maxWidth = Number.POSITIVE_INFINITY }, index) =>
    Math.max(title.length, ...rows.map((row) => Math.min(maxWidth, oneLine(row[index] ?? "").length))),
  );
  const total = (): number => widths.reduce((sum, one) => sum + one + 2, -2);
  const spare = (index: number): number =>
    (widths[index] ?? 0) - (columns[index]?.minWidth ?? Number.POSITIVE_INFINITY);
  while (total() > width) {
    const [widest] = [...widths.keys()].filter((index) => spare(index) > 0).sort((a, b) => spare(b) - spare(a));
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return formatTable(
    columns.map((column, index) =>
      column.minWidth === undefined ? column : { ...column, maxWidth: widths[index] ?? 0 },
    ),
    rows,
  );
}

/** The text in lines of at most so many characters, broken at spaces; lines after the first are indented. */
export function wrapText(text: string, { width, indent = "" }: { width: number; indent?: string }): readonly string[] {
  const [, start = "", rest = ""] = /^( *)(.*)$/s.exec(text) ?? [];
  const lines: string[] = [];
  let line = start;
  for (const word of rest.split(" ")) {
    const isFirst = line.trim() === "";
    if (isFirst || line.length + 1 + word.length <= width) line += isFirst ? word : ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line];
}

/** The lines of a table: titles, then rows, with two spaces between columns and no trailing spaces. */
export function formatTable(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): readonly string[] {
  const cut = rows.map((row) => row.map((cell, index) => truncateText(oneLine(cell), columns[index]?.maxWidth)));
  const all = [columns.map(({ title }) => title), ...cut];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? "").length)));
  return all.map((row) =>
    row
      .map((cell, index) =>
        columns[index]?.align === "right" ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** Sections with an empty line between them; empty sections are left out. */
export function joinSections(sections: readonly (readonly string[])[]): string {
  const texts = sections.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  return `${texts.join("\n\n")}\n`;
}

export function truncateText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}

/** Removes line breaks and terminal control characters, which text from manifests may contain. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
}

export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
