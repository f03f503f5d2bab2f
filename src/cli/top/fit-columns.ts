import type { ColumnId, TopColumn } from "./top-columns.ts";

/** A column and the characters it gets. */
export interface FittedColumn {
  readonly column: TopColumn;
  readonly width: number;
}

const gap = 2;
const leastNameWidth = 8;
/** A reason in fewer characters says nothing. */
const leastReasonWidth = 16;

/**
 * Chooses columns for a width: those of low rank first, each as wide as it wants to be. Name and reason have a part of the
 * width, and get what the others leave.
 */
export function fitColumns(
  columns: readonly TopColumn[],
  { wanted, width }: { readonly wanted: (column: TopColumn) => number; readonly width: number },
): readonly FittedColumn[] {
  const widths = new Map<ColumnId, number>();
  const wishes = new Map(columns.map((column) => [column.id, wanted(column)]));
  let left = width;
  for (const { id } of [...columns].sort((a, b) => a.rank - b.rank)) {
    const space = left - (widths.size === 0 ? 0 : gap);
    const wish = Math.min(wishes.get(id) ?? 0, firstShare(id, width));
    if (wish > space && id !== "name") continue;
    widths.set(id, Math.min(wish, space));
    left = space - Math.min(wish, space);
  }
  for (const id of ["name", "reason"] as const) {
    const has = widths.get(id);
    if (has === undefined) continue;
    const more = Math.min(left, (wishes.get(id) ?? 0) - has);
    widths.set(id, has + more);
    left -= more;
  }
  return columns.flatMap((column) => {
    const found = widths.get(column.id);
    return found === undefined ? [] : [{ column, width: found }];
  });
}

/** The most a column gets before the others have theirs. */
function firstShare(id: ColumnId, width: number): number {
  if (id === "name") return Math.max(leastNameWidth, Math.floor(width / 3.5));
  if (id === "reason") return Math.max(leastReasonWidth, Math.floor(width / 4));
  return Number.POSITIVE_INFINITY;
}
