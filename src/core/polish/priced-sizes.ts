import { Bitset } from "../../util/bitset.ts";
import type { Pass, PlannedNodeState, PoolTemplate } from "../scheduling/pass-state.ts";
import type { RequirementState } from "../scheduling/requirement-state.ts";
import { isRowWithin } from "../scheduling/resource-space.ts";

/** Sizes a planned node can be launched as, cheapest first, without dominated ones. */
export interface PricedSizes {
  readonly prices: readonly number[];
  /** Allocatable resources less daemons, row by row. */
  readonly podResources: Float64Array;
  /** The lowest price for a unit of resources. */
  readonly unitPrice: number;
}

/** The priced sizes of one pass, by requirement state and capacity limit. */
export class PricedSizesCache {
  readonly #pass: Pass;
  readonly #known = new Map<RequirementState, Map<string, PricedSizes>>();
  readonly #largest = new Map<PoolTemplate, Float64Array>();
  readonly #podResources = new Map<PoolTemplate, readonly (Float64Array | undefined)[]>();

  constructor(pass: Pass) {
    this.#pass = pass;
  }

  of(poolTemplate: PoolTemplate, requirementState: RequirementState, capacityLimit: CapacityLimit): PricedSizes {
    const byCapacityLimit = this.#known.get(requirementState) ?? new Map<string, PricedSizes>();
    this.#known.set(requirementState, byCapacityLimit);
    const known = byCapacityLimit.get(capacityLimit.key) ?? this.#make(poolTemplate, requirementState, capacityLimit);
    byCapacityLimit.set(capacityLimit.key, known);
    return known;
  }

  /** The index of the first size that is large enough; -1: none. */
  cheapestFitting({ prices, podResources }: PricedSizes, used: Float64Array): number {
    const { length } = used;
    for (let at = 0, base = 0; at < prices.length; at++, base += length) {
      let dimension = 0;
      while (dimension < length && (used[dimension] as number) <= (podResources[base + dimension] as number))
        dimension++;
      if (dimension === length) return at;
    }
    return -1;
  }

  /** Columns a node of this requirement state can be launched as. (02:F-1) */
  columns(poolTemplate: PoolTemplate, requirementState: RequirementState, capacityLimit: CapacityLimit): Bitset {
    return withinCapacityLimit(
      poolTemplate,
      poolTemplate.columns.intersection(requirementState.instanceTypeOptions.columns),
      capacityLimit,
    );
  }

  #make(poolTemplate: PoolTemplate, requirementState: RequirementState, capacityLimit: CapacityLimit): PricedSizes {
    const columns = this.columns(poolTemplate, requirementState, capacityLimit);
    const podResources = this.#podResourcesOf(poolTemplate);
    const prices: number[] = [];
    const rows: Float64Array[] = [];
    for (const { typeIndex, price } of poolTemplate.typeTable.typesByPrice(requirementState)) {
      if (price === Number.POSITIVE_INFINITY) break;
      for (const column of poolTemplate.typeTable.columnsOf(typeIndex)) {
        const row = columns.has(column) ? podResources[column] : undefined;
        if (row === undefined || isDominated(row, rows)) continue;
        prices.push(price);
        rows.push(row);
      }
    }
    const flat = new Float64Array(rows.length * this.#pass.space.size);
    for (const [at, row] of rows.entries()) flat.set(row, at * row.length);
    return { prices, podResources: flat, unitPrice: this.#unitPriceOf(poolTemplate, prices, rows) };
  }

  #unitPriceOf(poolTemplate: PoolTemplate, prices: readonly number[], rows: readonly Float64Array[]): number {
    const largest = this.#largestOf(poolTemplate);
    const unitPrices = rows.map((row, at) => {
      let share = 0;
      for (let i = 0; i < row.length; i++)
        share += (largest[i] as number) > 0 ? (row[i] as number) / (largest[i] as number) : 0;
      return (prices[at] as number) / share;
    });
    return unitPrices.reduce((least, unitPrice) => Math.min(least, unitPrice), Number.POSITIVE_INFINITY);
  }

  /** The largest amount of each resource that any column of the pool has. */
  #largestOf(poolTemplate: PoolTemplate): Float64Array {
    const known = this.#largest.get(poolTemplate);
    if (known !== undefined) return known;
    const largest = this.#pass.space.zeroRow();
    for (const row of this.#podResourcesOf(poolTemplate)) {
      row?.forEach((amount, i) => {
        largest[i] = Math.max(largest[i] as number, amount);
      });
    }
    this.#largest.set(poolTemplate, largest);
    return largest;
  }

  /** Allocatable less daemons, by column; undefined for one that takes no pods at all. (02:A-9, G-3) */
  #podResourcesOf(poolTemplate: PoolTemplate): readonly (Float64Array | undefined)[] {
    const known = this.#podResources.get(poolTemplate);
    if (known !== undefined) return known;
    const podResources = poolTemplate.typeTable.allocatable.map((row, column) => {
      const daemonGroup = poolTemplate.daemonGroups.find((group) => group.columns.has(column));
      if (daemonGroup === undefined || row.some((amount) => amount < 0)) return undefined;
      return row.map((amount, dimension) => amount - (daemonGroup.overheadRow[dimension] as number));
    });
    this.#podResources.set(poolTemplate, podResources);
    return podResources;
  }
}

/** Comparing with the last few is enough: a dominated size that stays does no harm. */
const maxCompared = 16;

function isDominated(row: Float64Array, rows: readonly Float64Array[]): boolean {
  for (let at = Math.max(0, rows.length - maxCompared); at < rows.length; at++) {
    if (isRowWithin(row, rows[at] as Float64Array)) return true;
  }
  return false;
}

/** What was charged against the pool's limits for the node: it may not grow beyond it. (02:H-3) */
export interface CapacityLimit {
  readonly key: string;
  readonly amounts: readonly (readonly [string, number])[];
}

export function capacityLimitOf({ poolTemplate, initialColumns }: PlannedNodeState): CapacityLimit {
  const { typeTable, remainingLimits, columns } = poolTemplate;
  const amounts = [...remainingLimits.keys()].flatMap((name): (readonly [string, number])[] => {
    const charged = typeTable.largestCapacity(initialColumns, name);
    return charged < typeTable.largestCapacity(columns, name) ? [[name, charged]] : [];
  });
  return { key: amounts.join(), amounts };
}

function withinCapacityLimit({ typeTable }: PoolTemplate, columns: Bitset, { amounts }: CapacityLimit): Bitset {
  if (amounts.length === 0) return columns;
  return Bitset.from(
    columns.toArray().filter((column) => {
      const typeIndex = typeTable.columns[column]?.typeIndex ?? 0;
      return amounts.every(([name, maxCapacity]) => typeTable.capacityOf(typeIndex, name) <= maxCapacity);
    }),
    columns.size,
  );
}
