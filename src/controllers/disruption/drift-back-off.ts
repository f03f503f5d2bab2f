const firstMs = 60_000;
const maxMs = 60 * 60_000;

/**
 * Pools whose replacements fail wait before drift tries them again, twice as long each time: otherwise the pool whose
 * nodes drifted first would be chosen for ever and the others never. (03:D-32b)
 */
export class DriftBackOff {
  readonly #pools = new Map<string, { readonly failures: number; readonly untilMs: number }>();

  failed(pool: string, nowMs: number): void {
    const failures = (this.#pools.get(pool)?.failures ?? 0) + 1;
    const waitMs = Math.min(maxMs, firstMs * 2 ** (failures - 1));
    this.#pools.set(pool, { failures, untilMs: nowMs + waitMs });
  }

  succeeded(pool: string): void {
    this.#pools.delete(pool);
  }

  /** Until when each pool waits. */
  heldBackPools(): ReadonlyMap<string, number> {
    return new Map([...this.#pools].map(([pool, { untilMs }]) => [pool, untilMs]));
  }
}
