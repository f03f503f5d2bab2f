import type { Shop } from "../scheduling/pass-state.ts";
import type { Bin } from "./bin.ts";
import type { Mover } from "./mover.ts";
import type { Batch } from "./workbench.ts";

/** Planned nodes pods can be moved between as far as topology is concerned. */
export interface Cell {
  /** Nodes that have pods, those alike together. */
  readonly kinds: Map<number, Set<Bin>>;
  /**
   * Nodes in the order they came to have more room. Room only shrinks in between, so that a batch that found none up to
   * some place in this list need never look there again.
   */
  readonly log: Bin[];
  /** No node has ever cost less more for being the next larger one. */
  leastStep: number;
  /** Up to where each batch has looked, by mover and by count. */
  readonly looked: Map<Mover, number[]>;
}

/** The planned nodes by pool and signature, and what room is left on each. */
export class Cells {
  readonly size: number;
  /** What is left of each node as it would be bought, one row after the other. */
  readonly slack: Float64Array;
  /** What the next larger one would cost more. */
  readonly step: Float64Array;
  readonly #bySignature = new Map<string, Cell>();
  readonly #byShop = new Map<Shop, Cell>();
  readonly #empty = new Map<Shop, Set<Bin>>();
  readonly #filedAs = new Map<Bin, number>();

  constructor(nodes: number, size: number) {
    this.size = size;
    this.slack = new Float64Array(nodes * size);
    this.step = new Float64Array(nodes);
  }

  /** Where pods of a mover may go from a node. */
  around(bin: Bin, { isAnchored }: Mover): Cell {
    return isAnchored ? this.#cellOf(bin) : this.#shopCellOf(bin);
  }

  /** A node that has lost all its pods: it can be filled again without there being more nodes than before. */
  emptyOne(shop: Shop): Bin | undefined {
    for (const bin of this.#empty.get(shop) ?? []) return bin;
    return undefined;
  }

  /** One node of each kind, those whose room costs least first. */
  byRate(shop: Shop): readonly Bin[] {
    const found: Bin[] = [];
    for (const alike of this.#byShop.get(shop)?.kinds.values() ?? []) for (const bin of firstOf(alike)) found.push(bin);
    return found.sort((a, b) => rateOf(a) - rateOf(b) || a.index - b.index);
  }

  changed(bin: Bin, { hasMoreRoom }: { hasMoreRoom: boolean }): void {
    const { shop } = bin.claim;
    const empty = this.#empty.get(shop) ?? new Set<Bin>();
    this.#empty.set(shop, empty);
    if (bin.isEmpty) empty.add(bin);
    else empty.delete(bin);
    this.#measure(bin);
    for (const cell of [this.#cellOf(bin), this.#shopCellOf(bin)]) {
      this.#file(bin, cell);
      cell.leastStep = Math.min(cell.leastStep, this.step[bin.index] as number);
      if (hasMoreRoom && !bin.isEmpty) cell.log.push(bin);
    }
    this.#filedAs.set(bin, bin.kind);
  }

  #file(bin: Bin, { kinds }: Cell): void {
    const before = this.#filedAs.get(bin);
    const alike = before === undefined ? undefined : kinds.get(before);
    alike?.delete(bin);
    if (before !== undefined && alike?.size === 0) kinds.delete(before);
    if (bin.isEmpty) return;
    const others = kinds.get(bin.kind);
    if (others === undefined) kinds.set(bin.kind, new Set([bin]));
    else others.add(bin);
  }

  /** Whether a node has room for some pods as it would be bought anyway. */
  hasRoom({ index }: Bin, { mover: { request }, count }: Batch): boolean {
    const { slack, size } = this;
    for (let i = 0, at = index * size; i < size; i++, at++) {
      if (count * (request[i] as number) > (slack[at] as number)) return false;
    }
    return true;
  }

  #measure({ index, menu, choice, used, price, isEmpty }: Bin): void {
    if (menu === undefined) return;
    const { slack, size } = this;
    for (let i = 0; i < size; i++) {
      slack[index * size + i] = isEmpty ? -1 : (menu.rooms[choice * size + i] as number) - (used[i] as number);
    }
    let next = choice + 1;
    while (next < menu.prices.length && (menu.prices[next] as number) <= price) next++;
    this.step[index] = isEmpty ? Number.POSITIVE_INFINITY : (menu.prices[next] ?? Number.POSITIVE_INFINITY) - price;
  }

  #cellOf({ claim, signature }: Bin): Cell {
    const key = `${claim.shop.index}/${signature}`;
    const known = this.#bySignature.get(key) ?? emptyCell();
    this.#bySignature.set(key, known);
    return known;
  }

  #shopCellOf({ claim: { shop } }: Bin): Cell {
    const known = this.#byShop.get(shop) ?? emptyCell();
    this.#byShop.set(shop, known);
    return known;
  }
}

function* firstOf(alike: Iterable<Bin>): Iterable<Bin> {
  for (const bin of alike) {
    yield bin;
    return;
  }
}

/** What the room of a node costs. */
export function rateOf({ menu }: Bin): number {
  return menu?.rate ?? Number.POSITIVE_INFINITY;
}

function emptyCell(): Cell {
  return { kinds: new Map(), log: [], leastStep: Number.POSITIVE_INFINITY, looked: new Map() };
}
