import type { PoolTemplate } from "../scheduling/pass-state.ts";
import type { Bin } from "./bin.ts";
import type { MoveClass } from "./move-class.ts";
import type { PodBatch } from "./packing-state.ts";

/** Planned nodes pods can be moved between as far as topology is concerned. */
export interface MoveScope {
  /** Nodes that have pods, those alike together. */
  readonly binsByContent: Map<number, Set<Bin>>;
  /**
   * Nodes in the order they came to have more room. Room only shrinks in between, so that a batch that found none up to
   * some place in this list need never look there again.
   */
  readonly roomLog: Bin[];
  /** No node has ever cost less more for being the next larger one. */
  minPriceStep: number;
  /** Up to where each batch has looked, by mover and by count. */
  readonly searchedUpTo: Map<MoveClass, number[]>;
}

/** The planned nodes by pool and signature, and what room is left on each. */
export class MoveScopes {
  readonly size: number;
  /** What is left of each node as it would be bought, one row after the other. */
  readonly freeResources: Float64Array;
  /** What the next larger one would cost more. */
  readonly priceStep: Float64Array;
  readonly #bySignature = new Map<string, MoveScope>();
  readonly #byPool = new Map<PoolTemplate, MoveScope>();
  readonly #empty = new Map<PoolTemplate, Set<Bin>>();
  readonly #contentKeyOf = new Map<Bin, number>();

  constructor(nodes: number, size: number) {
    this.size = size;
    this.freeResources = new Float64Array(nodes * size);
    this.priceStep = new Float64Array(nodes);
  }

  /** Where pods of a mover may go from a node. */
  scopeFor(bin: Bin, { isTopologyBound }: MoveClass): MoveScope {
    return isTopologyBound ? this.#scopeOf(bin) : this.#poolScopeOf(bin);
  }

  /** A node that has lost all its pods: it can be filled again without there being more nodes than before. */
  anyEmptyBin(poolTemplate: PoolTemplate): Bin | undefined {
    for (const bin of this.#empty.get(poolTemplate) ?? []) return bin;
    return undefined;
  }

  /** One node of each kind, those whose room costs least first. */
  binsByUnitPrice(poolTemplate: PoolTemplate): readonly Bin[] {
    const found: Bin[] = [];
    for (const alike of this.#byPool.get(poolTemplate)?.binsByContent.values() ?? [])
      for (const bin of firstOf(alike)) found.push(bin);
    return found.sort((a, b) => unitPriceOf(a) - unitPriceOf(b) || a.index - b.index);
  }

  update(bin: Bin, { hasMoreRoom }: { hasMoreRoom: boolean }): void {
    const { poolTemplate: shop } = bin.plannedNode;
    const empty = this.#empty.get(shop) ?? new Set<Bin>();
    this.#empty.set(shop, empty);
    if (bin.isEmpty) empty.add(bin);
    else empty.delete(bin);
    this.#measureFreeResources(bin);
    for (const scope of [this.#scopeOf(bin), this.#poolScopeOf(bin)]) {
      this.#reindex(bin, scope);
      scope.minPriceStep = Math.min(scope.minPriceStep, this.priceStep[bin.index] as number);
      if (hasMoreRoom && !bin.isEmpty) scope.roomLog.push(bin);
    }
    this.#contentKeyOf.set(bin, bin.contentKey);
  }

  #reindex(bin: Bin, { binsByContent }: MoveScope): void {
    const before = this.#contentKeyOf.get(bin);
    const alike = before === undefined ? undefined : binsByContent.get(before);
    alike?.delete(bin);
    if (before !== undefined && alike?.size === 0) binsByContent.delete(before);
    if (bin.isEmpty) return;
    const others = binsByContent.get(bin.contentKey);
    if (others === undefined) binsByContent.set(bin.contentKey, new Set([bin]));
    else others.add(bin);
  }

  /** Whether a node has room for some pods as it would be bought anyway. */
  hasRoom({ index }: Bin, { moveClass: { request }, count }: PodBatch): boolean {
    const { freeResources: slack, size } = this;
    for (let i = 0, at = index * size; i < size; i++, at++) {
      if (count * (request[i] as number) > (slack[at] as number)) return false;
    }
    return true;
  }

  #measureFreeResources({ index, pricedSizes, sizeIndex, used, price, isEmpty }: Bin): void {
    if (pricedSizes === undefined) return;
    const { freeResources: slack, size } = this;
    for (let i = 0; i < size; i++) {
      slack[index * size + i] = isEmpty
        ? -1
        : (pricedSizes.podResources[sizeIndex * size + i] as number) - (used[i] as number);
    }
    let next = sizeIndex + 1;
    while (next < pricedSizes.prices.length && (pricedSizes.prices[next] as number) <= price) next++;
    this.priceStep[index] = isEmpty
      ? Number.POSITIVE_INFINITY
      : (pricedSizes.prices[next] ?? Number.POSITIVE_INFINITY) - price;
  }

  #scopeOf({ plannedNode: claim, signature }: Bin): MoveScope {
    const key = `${claim.poolTemplate.index}/${signature}`;
    const known = this.#bySignature.get(key) ?? emptyScope();
    this.#bySignature.set(key, known);
    return known;
  }

  #poolScopeOf({ plannedNode: { poolTemplate: shop } }: Bin): MoveScope {
    const known = this.#byPool.get(shop) ?? emptyScope();
    this.#byPool.set(shop, known);
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
export function unitPriceOf({ pricedSizes }: Bin): number {
  return pricedSizes?.unitPrice ?? Number.POSITIVE_INFINITY;
}

function emptyScope(): MoveScope {
  return { binsByContent: new Map(), roomLog: [], minPriceStep: Number.POSITIVE_INFINITY, searchedUpTo: new Map() };
}
