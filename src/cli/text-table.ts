/** One column of a table. */
export interface TextColumn {
  readonly title: string;
  readonly align?: "left" | "right";
  /** Longer cells are truncated, with an ellipsis. */
  readonly maxWidth?: number;
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
