interface PoolCount {
  readonly active: Set<string>;
  readonly deleting: Set<string>;
  readonly pendingDisruption: Set<string>;
  reserved: number;
}

/** Claims of each pool by state, and reserved ones, so that two reconciles cannot both take the last node of a limit. (02:S-36) */
export class NodePoolState {
  readonly #pools = new Map<string, PoolCount>();

  counts(pool: string): {
    readonly active: number;
    readonly deleting: number;
    readonly pendingDisruption: number;
    readonly reserved: number;
  } {
    const { active, deleting, pendingDisruption, reserved } = this.#pools.get(pool) ?? emptyCount();
    return { active: active.size, deleting: deleting.size, pendingDisruption: pendingDisruption.size, reserved };
  }

  activeNames(pool: string): readonly string[] {
    return [...(this.#pools.get(pool)?.active ?? [])].sort();
  }

  /** A claim that is pending disruption stays so until it is deleted or marked active. */
  observe(pool: string, claim: string, { isBeingDeleted }: { readonly isBeingDeleted: boolean }): void {
    const count = this.#countOf(pool);
    if (isBeingDeleted) move(count, claim, "deleting");
    else if (!count.pendingDisruption.has(claim)) move(count, claim, "active");
  }

  isPendingDisruption(pool: string, claim: string): boolean {
    return this.#pools.get(pool)?.pendingDisruption.has(claim) ?? false;
  }

  markActive(pool: string, claim: string): void {
    move(this.#countOf(pool), claim, "active");
  }

  markPendingDisruption(pool: string, claim: string): void {
    move(this.#countOf(pool), claim, "pendingDisruption");
  }

  forget(pool: string, claim: string): void {
    const count = this.#pools.get(pool);
    if (count === undefined) return;
    for (const set of setsOf(count)) set.delete(claim);
    // As upstream: reservations keep the record, claims pending disruption do not.
    if (count.active.size + count.deleting.size + count.reserved === 0) this.#pools.delete(pool);
  }

  /** How many of the wanted nodes the limit allows now; they count until they are released. */
  reserveNodeCount(pool: string, { limit, wanted }: { readonly limit: number; readonly wanted: number }): number {
    const count = this.#countOf(pool);
    const taken = setsOf(count).reduce((sum, { size }) => sum + size, count.reserved);
    const granted = Math.max(0, Math.min(wanted, limit - taken));
    count.reserved += granted;
    return granted;
  }

  releaseNodeCount(pool: string, granted: number): void {
    const count = this.#pools.get(pool);
    if (count !== undefined) count.reserved = Math.max(0, count.reserved - granted);
  }

  #countOf(pool: string): PoolCount {
    const known = this.#pools.get(pool);
    if (known !== undefined) return known;
    const made = emptyCount();
    this.#pools.set(pool, made);
    return made;
  }
}

function emptyCount(): PoolCount {
  return { active: new Set(), deleting: new Set(), pendingDisruption: new Set(), reserved: 0 };
}

function setsOf({ active, deleting, pendingDisruption }: PoolCount): readonly Set<string>[] {
  return [active, deleting, pendingDisruption];
}

function move(count: PoolCount, claim: string, to: "active" | "deleting" | "pendingDisruption"): void {
  for (const set of setsOf(count)) set.delete(claim);
  count[to].add(claim);
}
