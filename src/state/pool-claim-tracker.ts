import type { NodeClaim } from "../api/kinds/node-claim.ts";
import { labels } from "../api/labels.ts";
import type { NodePoolState } from "./node-pool-state.ts";

/** Keeps count of the claims of pools as they come, go, and move between pools. (02:S-36) */
export class PoolClaimTracker {
  readonly #nodePoolState: NodePoolState;
  readonly #poolOf = new Map<string, string>();

  constructor(counts: NodePoolState) {
    this.#nodePoolState = counts;
  }

  put({ metadata }: NodeClaim, { isLeaving }: { readonly isLeaving: boolean }): void {
    const { name = "" } = metadata;
    const pool = metadata.labels?.[labels.nodePool];
    if (this.#poolOf.get(name) !== pool) this.remove(name);
    if (pool === undefined) return;
    this.#poolOf.set(name, pool);
    this.#nodePoolState.observe(pool, name, { isLeaving });
  }

  remove(claim: string): void {
    const pool = this.#poolOf.get(claim);
    if (pool !== undefined) this.#nodePoolState.forget(pool, claim);
    this.#poolOf.delete(claim);
  }

  /** Its machine was marked for deletion, or no longer is. */
  mark(claim: string, { isMarked }: { readonly isMarked: boolean }): void {
    const pool = this.#poolOf.get(claim);
    if (pool === undefined) return;
    if (isMarked) this.#nodePoolState.markDeleting(pool, claim);
    else this.#nodePoolState.markActive(pool, claim);
  }
}
