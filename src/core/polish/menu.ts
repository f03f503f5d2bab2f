import { Bitset } from "../../util/bitset.ts";
import type { Outline } from "../scheduling/outline.ts";
import type { Claim, Pass, Shop } from "../scheduling/pass-state.ts";

/** What a planned node can be bought as, cheapest first, without what is neither cheaper nor larger than another. */
export interface Menu {
  readonly prices: readonly number[];
  /** What pods can have of each once daemons have theirs, one row after the other. */
  readonly rooms: Float64Array;
  /** What room costs where it is cheapest: tells a dear kind of node from a cheap one. */
  readonly rate: number;
}

/** Menus of one pass, by outline and by what limits leave. */
export class Menus {
  readonly #pass: Pass;
  readonly #known = new Map<Outline, Map<string, Menu>>();
  readonly #largest = new Map<Shop, Float64Array>();
  readonly #rooms = new Map<Shop, readonly (Float64Array | undefined)[]>();

  constructor(pass: Pass) {
    this.#pass = pass;
  }

  of(shop: Shop, outline: Outline, ceiling: Ceiling): Menu {
    const byCeiling = this.#known.get(outline) ?? new Map<string, Menu>();
    this.#known.set(outline, byCeiling);
    const known = byCeiling.get(ceiling.key) ?? this.#make(shop, outline, ceiling);
    byCeiling.set(ceiling.key, known);
    return known;
  }

  /** The first on the menu with room for this much; -1: none. */
  choose({ prices, rooms }: Menu, used: Float64Array): number {
    const { length } = used;
    for (let at = 0, base = 0; at < prices.length; at++, base += length) {
      let dimension = 0;
      while (dimension < length && (used[dimension] as number) <= (rooms[base + dimension] as number)) dimension++;
      if (dimension === length) return at;
    }
    return -1;
  }

  /** Columns a node of this outline can still be. (02:F-1) */
  columns(shop: Shop, outline: Outline, ceiling: Ceiling): Bitset {
    return withinCeiling(shop, shop.columns.intersection(outline.choice.columns), ceiling);
  }

  #make(shop: Shop, outline: Outline, ceiling: Ceiling): Menu {
    const columns = this.columns(shop, outline, ceiling);
    const rooms = this.#roomsOf(shop);
    const prices: number[] = [];
    const rows: Float64Array[] = [];
    for (const { typeIndex, price } of shop.catalogue.byPrice(outline)) {
      if (price === Number.POSITIVE_INFINITY) break;
      for (const column of shop.catalogue.columnsOf(typeIndex)) {
        const room = columns.has(column) ? rooms[column] : undefined;
        if (room === undefined || isBeaten(room, rows)) continue;
        prices.push(price);
        rows.push(room);
      }
    }
    const flat = new Float64Array(rows.length * this.#pass.space.size);
    for (const [at, row] of rows.entries()) flat.set(row, at * row.length);
    return { prices, rooms: flat, rate: this.#rateOf(shop, prices, rows) };
  }

  #rateOf(shop: Shop, prices: readonly number[], rows: readonly Float64Array[]): number {
    const largest = this.#largestOf(shop);
    const rates = rows.map((row, at) => {
      let share = 0;
      for (let i = 0; i < row.length; i++)
        share += (largest[i] as number) > 0 ? (row[i] as number) / (largest[i] as number) : 0;
      return (prices[at] as number) / share;
    });
    return rates.reduce((least, rate) => Math.min(least, rate), Number.POSITIVE_INFINITY);
  }

  /** The most room any column of the pool has, resource by resource. */
  #largestOf(shop: Shop): Float64Array {
    const known = this.#largest.get(shop);
    if (known !== undefined) return known;
    const largest = this.#pass.space.zero();
    for (const room of this.#roomsOf(shop)) {
      room?.forEach((amount, i) => {
        largest[i] = Math.max(largest[i] as number, amount);
      });
    }
    this.#largest.set(shop, largest);
    return largest;
  }

  /** By column, undefined for one that takes no pods at all. (02:A-9, G-3) */
  #roomsOf(shop: Shop): readonly (Float64Array | undefined)[] {
    const known = this.#rooms.get(shop);
    if (known !== undefined) return known;
    const rooms = shop.catalogue.allocatable.map((row, column) => {
      const daemons = shop.daemons.find((group) => group.columns.has(column));
      if (daemons === undefined || row.some((amount) => amount < 0)) return undefined;
      return row.map((amount, dimension) => amount - (daemons.row[dimension] as number));
    });
    this.#rooms.set(shop, rooms);
    return rooms;
  }
}

/** A menu may hold more than it need: looking at the last few is enough to keep it short. */
const mostCompared = 16;

function isBeaten(room: Float64Array, rows: readonly Float64Array[]): boolean {
  for (let at = Math.max(0, rows.length - mostCompared); at < rows.length; at++) {
    if (isWithin(room, rows[at] as Float64Array)) return true;
  }
  return false;
}

function isWithin(small: Float64Array, large: Float64Array): boolean {
  for (let i = 0; i < small.length; i++) if ((small[i] as number) > (large[i] as number)) return false;
  return true;
}

/** How large a planned node may become: what was charged for it when it was opened. (02:H-3) */
export interface Ceiling {
  readonly key: string;
  readonly amounts: readonly (readonly [string, number])[];
}

export function ceilingOf({ shop, opened }: Claim): Ceiling {
  const { catalogue, remaining, columns } = shop;
  const amounts = [...remaining.keys()].flatMap((name): (readonly [string, number])[] => {
    const charged = catalogue.largest(opened, name);
    return charged < catalogue.largest(columns, name) ? [[name, charged]] : [];
  });
  return { key: amounts.join(), amounts };
}

function withinCeiling({ catalogue }: Shop, columns: Bitset, { amounts }: Ceiling): Bitset {
  if (amounts.length === 0) return columns;
  return Bitset.from(
    columns.toArray().filter((column) => {
      const typeIndex = catalogue.columns[column]?.typeIndex ?? 0;
      return amounts.every(([name, most]) => catalogue.capacityOf(typeIndex, name) <= most);
    }),
    columns.size,
  );
}
