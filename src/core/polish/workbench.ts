import type { Bitset } from "../../util/bitset.ts";
import { mapping, type Steps } from "../../util/steps.ts";
import { reservationIdLabels } from "../instance-type.ts";
import { checkMinValues } from "../min-values.ts";
import { mostTypes } from "../scheduling/close-pass.ts";
import type { Outline } from "../scheduling/outline.ts";
import type { Claim, Pass, Shop } from "../scheduling/pass-state.ts";
import { Bin } from "./bin.ts";
import { Cells } from "./cells.ts";
import { ceilingOf, Menus } from "./menu.ts";
import { type Mover, Movers } from "./mover.ts";
import { Signatures } from "./signature.ts";

/** A planned node as it would be. */
export interface Offer {
  readonly outline: Outline;
  /** Its place on the outline's menu; -1: nothing is bought. */
  readonly choice: number;
  readonly price: number;
}

/** Some pods of one mover. */
export interface Batch {
  readonly mover: Mover;
  readonly count: number;
}

/** The planned nodes of a pass laid out for moving pods between them, and what each would cost. */
export class Workbench {
  readonly bins: Bin[] = [];
  readonly cells: Cells;
  readonly #pass: Pass;
  readonly #menus: Menus;
  readonly #signatures: Signatures;
  readonly #folded = new Map<string, Outline | undefined>();
  readonly #row: Float64Array;

  private constructor(pass: Pass) {
    this.#pass = pass;
    this.#menus = new Menus(pass);
    this.#row = pass.space.zero();
    this.#signatures = new Signatures(pass);
    this.cells = new Cells(pass.claims.length, pass.space.size);
  }

  static *opening(pass: Pass): Steps<Workbench> {
    const bench = new Workbench(pass);
    const movers = new Movers(pass);
    for (const claim of pass.claims) {
      if (!bench.#canChange(claim)) continue;
      bench.#add(claim, movers);
      yield;
    }
    return bench;
  }

  /** What a node costs with these pods more; undefined: it cannot be had. */
  offerWith(bin: Bin, { mover, count }: Batch): Offer | undefined {
    const { shop } = bin.claim;
    const outline = shop.outlines.merge(bin.outline, mover.variant.incoming);
    if (outline === null) return undefined;
    if (outline !== bin.outline && this.#signatures.of(shop, outline) !== bin.signature) return undefined;
    return this.#offer(bin, outline, this.#usedWith(bin, mover, count));
  }

  /** Whether a node that has room for a pod takes it as it is, without becoming another. */
  takesAsIs({ claim: { shop }, outline }: Bin, { variant }: Mover): boolean {
    return !outline.hasMinValues && shop.outlines.merge(outline, variant.incoming) === outline;
  }

  /** What an empty node costs with these pods alone, as they were on another. */
  offerAlone(bin: Bin, { mover, count }: Batch, from: Bin): Offer | undefined {
    const { shop } = bin.claim;
    const outline = this.#fold(shop, [mover], from);
    if (outline === undefined) return undefined;
    if (mover.isAnchored && this.#signatures.of(shop, outline) !== from.signature) return undefined;
    return this.#offer(bin, outline, this.#usedWith(bin, mover, count));
  }

  /** What a node costs with these pods less; without any it costs nothing. */
  offerWithout(bin: Bin, { mover, count }: Batch): Offer | undefined {
    const isLast = bin.pods.get(mover)?.length === count;
    if (isLast && bin.pods.size === 1) return { outline: bin.claim.shop.start, choice: -1, price: 0 };
    const outline = isLast ? this.#loosened(bin, mover) : bin.outline;
    return this.#offer(bin, outline, this.#usedWith(bin, mover, -count));
  }

  /**
   * Moves all pods of a node to another that takes them as it is, leaving behind those it would have to change for:
   * what is saved, or undefined where that would be nothing.
   */
  pour(from: Bin, to: Bin): number | undefined {
    const before = from.price + to.price;
    const poured: { mover: Mover; count: number }[] = [];
    for (const [mover, { length: count }] of [...from.pods]) {
      if (!this.#canPour(from, to, { mover, count })) continue;
      to.put(mover, from.take(mover, count));
      poured.push({ mover, count });
    }
    const left = this.#offerAfterwards(from);
    const at = this.#offer(to, to.outline, to.used);
    const saved = left === undefined || at === undefined ? 0 : before - left.price - at.price;
    if (left === undefined || at === undefined || saved <= 1e-9) {
      for (const { mover, count } of poured.reverse()) from.put(mover, to.take(mover, count));
      return undefined;
    }
    this.#settle(from, left);
    this.#settle(to, at);
    for (const bin of [from, to]) {
      bin.isTouched = true;
      this.cells.changed(bin, { hasMoreRoom: true });
    }
    return saved;
  }

  #canPour(from: Bin, to: Bin, { mover, count }: Batch): boolean {
    if (!mover.isMovable || (mover.isAnchored && from.signature !== to.signature)) return false;
    if (!this.takesAsIs(to, mover) || !to.welcomes(mover, count) || to.menu === undefined) return false;
    return this.#menus.choose(to.menu, this.#usedWith(to, mover, count)) >= 0;
  }

  #offerAfterwards(bin: Bin): Offer | undefined {
    const { shop } = bin.claim;
    if (bin.isEmpty) return { outline: shop.start, choice: -1, price: 0 };
    const outline = bin.isPinned ? undefined : this.#fold(shop, [...bin.pods.keys()], bin);
    const isSeenAlike = outline !== undefined && this.#signatures.of(shop, outline) === bin.signature;
    return this.#offer(bin, isSeenAlike ? outline : bin.outline, bin.used);
  }

  /** Moves pods from one node to another, both becoming what has been offered. */
  move({ mover, count }: Batch, { from, left, to, at }: { from: Bin; left: Offer; to: Bin; at: Offer }): void {
    const hasMoreRoom = to.isEmpty || at.choice !== to.choice || at.outline !== to.outline;
    if (to.isEmpty) to.signature = this.#signatures.of(to.claim.shop, at.outline);
    to.put(mover, from.take(mover, count));
    from.isTouched = true;
    to.isTouched = true;
    this.#settle(from, left);
    this.#settle(to, at);
    this.cells.changed(from, { hasMoreRoom: true });
    this.cells.changed(to, { hasMoreRoom });
  }

  /** Writes what has been found back into the pass. Nodes that lost all their pods stay there, empty. */
  *finishing(): Steps<void> {
    const touched = this.bins.filter(({ isTouched }) => isTouched);
    const changes = yield* mapping(touched, (bin) => {
      const { claim, pods, used, outline } = bin;
      return { claim, pods: [...pods.values()].flat(), used, outline, columns: this.#columnsOf(bin, outline, used) };
    });
    // All at once: a plan of which half is written down would be none.
    for (const { claim, ...change } of changes) Object.assign(claim, change);
  }

  /** Ports are held by the node as it is, lowered flexibility by how it came about, reservations in an order. */
  #canChange({ shop, hostPorts, minValuesRelaxed }: Claim): boolean {
    if (hostPorts.length > 0 || minValuesRelaxed) return false;
    return this.#pass.reservations.isEmpty || !reservationIdLabels.some((label) => shop.catalogue.offersBy(label));
  }

  #add(claim: Claim, movers: Movers): void {
    const bin = new Bin(claim, ceilingOf(claim));
    for (const [mover, entries] of movers.byMover(claim.pods)) {
      bin.put(mover, entries);
      if (!mover.isMovable) bin.isPinned = true;
    }
    bin.signature = this.#signatures.of(claim.shop, claim.outline);
    const offer = this.#offer(bin, bin.outline, bin.used);
    if (offer === undefined) return;
    this.#settle(bin, offer);
    bin.index = this.bins.push(bin) - 1;
    this.cells.changed(bin, { hasMoreRoom: true });
  }

  #settle(bin: Bin, { outline, choice, price }: Offer): void {
    bin.outline = outline;
    bin.choice = choice;
    bin.price = price;
    bin.menu = this.#menus.of(bin.claim.shop, outline, bin.ceiling);
  }

  #usedWith({ used }: Bin, { request }: Mover, count: number): Float64Array {
    const row = this.#row;
    for (let i = 0; i < row.length; i++) row[i] = (used[i] as number) + count * (request[i] as number);
    return row;
  }

  #offer(bin: Bin, outline: Outline, used: Float64Array): Offer | undefined {
    const known = outline === bin.outline ? bin.menu : undefined;
    const menu = known ?? this.#menus.of(bin.claim.shop, outline, bin.ceiling);
    const choice = this.#menus.choose(menu, used);
    if (choice < 0) return undefined;
    if (outline.hasMinValues && !this.#isFlexible(bin, outline, used)) return undefined;
    return { outline, choice, price: menu.prices[choice] as number };
  }

  /** Whether what is left after truncation has the variety that is asked for. (02:F-2, Q-52) */
  #isFlexible(bin: Bin, outline: Outline, used: Float64Array): boolean {
    const { catalogue } = bin.claim.shop;
    const columns = this.#columnsOf(bin, outline, used);
    const byPrice = catalogue.byPrice(outline).filter(({ typeIndex }) => catalogue.hasType(columns, typeIndex));
    const types = byPrice.slice(0, mostTypes).map(({ type }) => type);
    return checkMinValues(types, outline.requirements).kind === "satisfied";
  }

  /** Everything it can be bought as. (02:F-1) */
  #columnsOf({ claim: { shop }, ceiling }: Bin, outline: Outline, used: Float64Array): Bitset {
    const possible = this.#menus.columns(shop, outline, ceiling);
    const found = possible.clone().clear();
    for (const group of shop.daemons) {
      const asked = used.map((amount, dimension) => amount + (group.row[dimension] as number));
      found.or(shop.catalogue.keepFitting(possible.intersection(group.columns), asked));
    }
    return found;
  }

  /** The requirements without those of pods that leave; as they are where that is uncertain. */
  #loosened(bin: Bin, leaving: Mover): Outline {
    if (bin.isPinned || isAlsoAskedFor(bin, leaving)) return bin.outline;
    const { shop } = bin.claim;
    const rest = [...bin.pods.keys()].filter((mover) => mover !== leaving);
    const outline = this.#fold(shop, rest, bin);
    return outline !== undefined && this.#signatures.of(shop, outline) === bin.signature ? outline : bin.outline;
  }

  /** What the wishes of some pods amount to; those that topology has placed keep their place. */
  #fold(shop: Shop, movers: readonly Mover[], from: Bin): Outline | undefined {
    const sets = [...new Set(movers.map(({ variant }) => variant.incoming))].sort((a, b) => a.id - b.id);
    const places = movers.some(({ isAnchored }) => isAnchored) ? this.#signatures.idsOf(from.outline) : [];
    const key = [shop.index, ...sets.map(({ id }) => id), "at", ...places].join();
    if (this.#folded.has(key)) return this.#folded.get(key);
    let outline: Outline | null = shop.start;
    for (const set of sets) outline = outline && shop.outlines.merge(outline, set);
    for (const place of places) if (place >= 0) outline = outline && shop.outlines.tighten(outline, place);
    this.#folded.set(key, outline ?? undefined);
    return outline ?? undefined;
  }
}

/** Whether other pods want the same of the node, so that it stays as it is when these leave. */
function isAlsoAskedFor(bin: Bin, { variant, isAnchored }: Mover): boolean {
  for (const other of bin.pods.keys()) {
    if (other.variant === variant) continue;
    if (other.variant.incoming === variant.incoming && (other.isAnchored || !isAnchored)) return true;
  }
  return false;
}
