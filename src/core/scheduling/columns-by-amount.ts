import { Bitset } from "../../util/bitset.ts";

/** Columns of an instance type table by how much of one resource they have. */
export interface ColumnsByAmount {
  /** Distinct amounts, ascending. */
  readonly amounts: Float64Array;
  /** The columns with at least each amount, and an empty set at the end for larger amounts. */
  readonly columns: readonly Bitset[];
}

export function indexColumnsByAmount(amounts: readonly number[]): ColumnsByAmount {
  const descending = amounts.map((_, column) => column).sort((a, b) => (amounts[b] ?? 0) - (amounts[a] ?? 0));
  const enough = Bitset.empty(amounts.length);
  const distinct: number[] = [];
  const columns = [enough.clone()];
  for (const [at, column] of descending.entries()) {
    const amount = amounts[column] ?? 0;
    enough.add(column);
    if (amounts[descending[at + 1] ?? -1] === amount) continue;
    distinct.push(amount);
    columns.push(enough.clone());
  }
  return { amounts: Float64Array.from(distinct.reverse()), columns: columns.reverse() };
}

export function columnsWithAtLeast({ amounts, columns }: ColumnsByAmount, asked: number): Bitset {
  let low = 0;
  let high = amounts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((amounts[middle] as number) < asked) low = middle + 1;
    else high = middle;
  }
  return columns[low] as Bitset;
}
