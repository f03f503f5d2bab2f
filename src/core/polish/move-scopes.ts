import type { PoolTemplate } from "../scheduling/pass-state.ts";
import type { Bin } from "./bin.ts";
import type { MoveClass, PodBatch } from "./move-class.ts";

/** Planned nodes between which topology allows moves. */
interface MoveScope {
  /** Nodes that have pods, grouped by equal content. */
  readonly binsByContent: Map<number, Set<Bin>>;
  /** Nodes in the order they gained free resources; these only shrink in between, so nothing is searched twice. */
  readonly roomLog: Bin[];
  /** The smallest price step any node has had. */
  minPriceStep: number;
  /** Up to where each batch has searched, by move class and count. */
  readonly searchedUpTo: Map<MoveClass, number[]>;
}

/** The planned nodes by pool and topology signature, and the free resources of each. */
export class MoveScopes {
  readonly size: number;
  /** Free resources of each node at its current size, row by row. */
  readonly freeResources: Float64Array;
  /** The price difference to the next larger size. */
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

  /** Where pods of a move class may go from a node. */
  scopeFor(bin: Bin, { isTopologyBound }: MoveClass): MoveScope {
    return isTopologyBound ? this.#scopeOf(bin) : this.#poolScopeOf(bin);
  }

  /** A node that has lost all its pods: using it again adds no node to the plan. */
  anyEmptyBin(poolTemplate: PoolTemplate): Bin | undefined {
    for (const bin of this.#empty.get(poolTemplate) ?? []) return bin;
    return undefined;
  }

  /** One node of each content, lowest unit price first. */
  binsByUnitPrice(poolTemplate: PoolTemplate): readonly Bin[] {
    const found: Bin[] = [];
    for (const alike of this.#byPool.get(poolTemplate)?.binsByContent.values() ?? [])
      for (const bin of firstOf(alike)) found.push(bin);
    return found.sort((a, b) => unitPriceOf(a) - unitPriceOf(b) || a.index - b.index);
  }

  update(bin: Bin, { hasMoreRoom }: { hasMoreRoom: boolean }): void {
    const { poolTemplate } = bin.plannedNode;
    const empty = this.#empty.get(poolTemplate) ?? new Set<Bin>();
    this.#empty.set(poolTemplate, empty);
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

  /** Whether the pods fit on the node at its current size. */
  hasRoom({ index }: Bin, { moveClass: { request }, count }: PodBatch): boolean {
    const { freeResources, size } = this;
    for (let i = 0, at = index * size; i < size; i++, at++) {
      if (count * (request[i] as number) > (freeResources[at] as number)) return false;
    }
    return true;
  }

  #measureFreeResources({ index, pricedSizes, sizeIndex, used, price, isEmpty }: Bin): void {
    if (pricedSizes === undefined) return;
    const { freeResources, size } = this;
    for (let i = 0; i < size; i++) {
      freeResources[index * size + i] = isEmpty
        ? -1
        : (pricedSizes.podResources[sizeIndex * size + i] as number) - (used[i] as number);
    }
    let next = sizeIndex + 1;
    while (next < pricedSizes.prices.length && (pricedSizes.prices[next] as number) <= price) next++;
    this.priceStep[index] = isEmpty
      ? Number.POSITIVE_INFINITY
      : (pricedSizes.prices[next] ?? Number.POSITIVE_INFINITY) - price;
  }

  #scopeOf({ plannedNode, signature }: Bin): MoveScope {
    const key = `${plannedNode.poolTemplate.index}/${signature}`;
    const known = this.#bySignature.get(key) ?? emptyScope();
    this.#bySignature.set(key, known);
    return known;
  }

  #poolScopeOf({ plannedNode: { poolTemplate } }: Bin): MoveScope {
    const known = this.#byPool.get(poolTemplate) ?? emptyScope();
    this.#byPool.set(poolTemplate, known);
    return known;
  }
}

function* firstOf(alike: Iterable<Bin>): Iterable<Bin> {
  for (const bin of alike) {
    yield bin;
    return;
  }
}

/** The price of resources on this node. */
export function unitPriceOf({ pricedSizes }: Bin): number {
  return pricedSizes?.unitPrice ?? Number.POSITIVE_INFINITY;
}

function emptyScope(): MoveScope {
  return { binsByContent: new Map(), roomLog: [], minPriceStep: Number.POSITIVE_INFINITY, searchedUpTo: new Map() };
}
