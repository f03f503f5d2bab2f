import { Bitset } from "../../util/bitset.ts";
import type { Pass, PlannedNodeState, PoolTemplate } from "../scheduling/pass-state.ts";
import type { RequirementState } from "../scheduling/requirement-state.ts";
import { isRowWithin } from "../scheduling/resource-space.ts";

/** What a planned node can be bought as, cheapest first, without what is neither cheaper nor larger than another. */
export interface PricedSizes {
  readonly prices: readonly number[];
  /** What pods can have of each once daemons have theirs, one row after the other. */
  readonly podResources: Float64Array;
  /** What room costs where it is cheapest: tells a dear kind of node from a cheap one. */
  readonly unitPrice: number;
}

/** Menus of one pass, by outline and by what limits leave. */
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

  /** The first on the menu with room for this much; -1: none. */
  cheapestFitting({ prices, podResources: rooms }: PricedSizes, used: Float64Array): number {
    const { length } = used;
    for (let at = 0, base = 0; at < prices.length; at++, base += length) {
      let dimension = 0;
      while (dimension < length && (used[dimension] as number) <= (rooms[base + dimension] as number)) dimension++;
      if (dimension === length) return at;
    }
    return -1;
  }

  /** Columns a node of this outline can still be. (02:F-1) */
  columns(poolTemplate: PoolTemplate, requirementState: RequirementState, capacityLimit: CapacityLimit): Bitset {
    return withinCapacityLimit(
      poolTemplate,
      poolTemplate.columns.intersection(requirementState.instanceTypeOptions.columns),
      capacityLimit,
    );
  }

  #make(poolTemplate: PoolTemplate, requirementState: RequirementState, capacityLimit: CapacityLimit): PricedSizes {
    const columns = this.columns(poolTemplate, requirementState, capacityLimit);
    const rooms = this.#podResourcesOf(poolTemplate);
    const prices: number[] = [];
    const rows: Float64Array[] = [];
    for (const { typeIndex, price } of poolTemplate.typeTable.typesByPrice(requirementState)) {
      if (price === Number.POSITIVE_INFINITY) break;
      for (const column of poolTemplate.typeTable.columnsOf(typeIndex)) {
        const room = columns.has(column) ? rooms[column] : undefined;
        if (room === undefined || isDominated(room, rows)) continue;
        prices.push(price);
        rows.push(room);
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

  /** The most room any column of the pool has, resource by resource. */
  #largestOf(poolTemplate: PoolTemplate): Float64Array {
    const known = this.#largest.get(poolTemplate);
    if (known !== undefined) return known;
    const largest = this.#pass.space.zeroRow();
    for (const room of this.#podResourcesOf(poolTemplate)) {
      room?.forEach((amount, i) => {
        largest[i] = Math.max(largest[i] as number, amount);
      });
    }
    this.#largest.set(poolTemplate, largest);
    return largest;
  }

  /** By column, undefined for one that takes no pods at all. (02:A-9, G-3) */
  #podResourcesOf(poolTemplate: PoolTemplate): readonly (Float64Array | undefined)[] {
    const known = this.#podResources.get(poolTemplate);
    if (known !== undefined) return known;
    const rooms = poolTemplate.typeTable.allocatable.map((row, column) => {
      const daemonGroup = poolTemplate.daemonGroups.find((group) => group.columns.has(column));
      if (daemonGroup === undefined || row.some((amount) => amount < 0)) return undefined;
      return row.map((amount, dimension) => amount - (daemonGroup.overheadRow[dimension] as number));
    });
    this.#podResources.set(poolTemplate, rooms);
    return rooms;
  }
}

/** A menu may hold more than it need: looking at the last few is enough to keep it short. */
const maxCompared = 16;

function isDominated(room: Float64Array, rows: readonly Float64Array[]): boolean {
  for (let at = Math.max(0, rows.length - maxCompared); at < rows.length; at++) {
    if (isRowWithin(room, rows[at] as Float64Array)) return true;
  }
  return false;
}

/** How large a planned node may become: what was charged for it when it was opened. (02:H-3) */
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
