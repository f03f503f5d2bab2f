import { equalResources, mergeResources, noResources, type Resources } from "../core/resources.ts";
import type { StateNode } from "../core/round/cluster-snapshot.ts";
import { SortedMap } from "../util/sorted-map.ts";

interface PoolShare {
  readonly pool: string;
  readonly capacity: Resources;
}

interface PoolTotal {
  /** By provider id, so that the sum does not depend on the order of events. */
  readonly shares: SortedMap<Resources>;
  sum: Resources | undefined;
}

/**
 * Total resources of each pool. Every node has one share, which is replaced when it changes, so that nothing counts
 * twice. (02:S-35)
 */
export class PoolTotals {
  readonly #shares = new Map<string, PoolShare>();
  readonly #pools = new Map<string, PoolTotal>();

  of(pool: string): Resources {
    const total = this.#pools.get(pool);
    if (total === undefined) return noResources;
    total.sum ??= mergeResources(...total.shares.values());
    return total.sum;
  }

  put(node: StateNode): void {
    const share = shareOf(node);
    const old = this.#shares.get(node.providerId);
    if (old !== undefined && share !== undefined && isSameShare(old, share)) return;
    this.remove(node.providerId);
    if (share === undefined) return;
    this.#shares.set(node.providerId, share);
    const total = this.#pools.get(share.pool) ?? { shares: new SortedMap(), sum: undefined };
    this.#pools.set(share.pool, total);
    total.shares.set(node.providerId, share.capacity);
    total.sum = undefined;
  }

  remove(providerId: string): void {
    const old = this.#shares.get(providerId);
    const total = old && this.#pools.get(old.pool);
    if (old === undefined || total === undefined) return;
    this.#shares.delete(providerId);
    total.shares.delete(providerId);
    total.sum = undefined;
    if (total.shares.size === 0) this.#pools.delete(old.pool);
  }
}

/** Nodes being deleted have none: their capacity may be replaced. (02:S-28) */
function shareOf({ isBeingDeleted, nodePool, existing }: StateNode): PoolShare | undefined {
  return isBeingDeleted || nodePool === undefined ? undefined : { pool: nodePool, capacity: existing.capacity };
}

function isSameShare(a: PoolShare, b: PoolShare): boolean {
  return a.pool === b.pool && (a.capacity === b.capacity || equalResources(a.capacity, b.capacity));
}
