import type { ShownAmounts } from "./pod-use.ts";
import type { TopRow } from "./top-rows.ts";

export const topSortKeys = ["name", "pool", "cpu", "memory", "pods", "age", "price"] as const;
export type TopSortKey = (typeof topSortKeys)[number];

/** Names in alphabetical order; of figures the largest first. Rows that are equal stay in order of names. */
export function sortedRows(rows: readonly TopRow[], key: TopSortKey): readonly TopRow[] {
  return [...rows].sort((a, b) => compareBy(key, a, b) || compareText(a.name, b.name));
}

function compareBy(key: TopSortKey, a: TopRow, b: TopRow): number {
  switch (key) {
    case "name":
      return 0;
    case "pool":
      return compareText(a.pool ?? "", b.pool ?? "");
    case "cpu":
    case "memory":
      return share(b, key) - share(a, key);
    case "pods":
      return b.pods - a.pods;
    case "age":
      return (a.createdMs ?? Number.MAX_SAFE_INTEGER) - (b.createdMs ?? Number.MAX_SAFE_INTEGER);
    case "price":
      return (b.pricePerHour ?? -1) - (a.pricePerHour ?? -1);
  }
}

function share({ requested, allocatable }: TopRow, resource: keyof ShownAmounts): number {
  return allocatable[resource] > 0 ? requested[resource] / allocatable[resource] : 0;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
