import type { NodeClaim } from "../api/kinds/node-claim.ts";
import { labels } from "../api/labels.ts";
import type { NodePoolState } from "./node-pool-state.ts";

/** Keeps the pools' claim counts up to date as claims come and go, or change their pool. (02:S-36) */
export class PoolClaimTracker {
  readonly #nodePoolState: NodePoolState;
  readonly #poolOf = new Map<string, string>();

  constructor(nodePoolState: NodePoolState) {
    this.#nodePoolState = nodePoolState;
  }

  put({ metadata }: NodeClaim, { isBeingDeleted }: { readonly isBeingDeleted: boolean }): void {
    const { name = "" } = metadata;
    const pool = metadata.labels?.[labels.nodePool];
    if (this.#poolOf.get(name) !== pool) this.remove(name);
    if (pool === undefined) return;
    this.#poolOf.set(name, pool);
    this.#nodePoolState.observe(pool, name, { isBeingDeleted });
  }

  remove(claim: string): void {
    const pool = this.#poolOf.get(claim);
    if (pool !== undefined) this.#nodePoolState.forget(pool, claim);
    this.#poolOf.delete(claim);
  }
}
