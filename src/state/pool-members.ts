import type { NodeClaim } from "../api/kinds/node-claim.ts";
import { labels } from "../api/labels.ts";
import type { PoolNodes } from "./pool-nodes.ts";

/** Keeps count of the claims of pools as they come, go, and move between pools. (02:S-36) */
export class PoolMembers {
  readonly #counts: PoolNodes;
  readonly #poolOf = new Map<string, string>();

  constructor(counts: PoolNodes) {
    this.#counts = counts;
  }

  put({ metadata }: NodeClaim, { isLeaving }: { readonly isLeaving: boolean }): void {
    const { name = "" } = metadata;
    const pool = metadata.labels?.[labels.nodePool];
    if (this.#poolOf.get(name) !== pool) this.remove(name);
    if (pool === undefined) return;
    this.#poolOf.set(name, pool);
    this.#counts.observe(pool, name, { isLeaving });
  }

  remove(claim: string): void {
    const pool = this.#poolOf.get(claim);
    if (pool !== undefined) this.#counts.forget(pool, claim);
    this.#poolOf.delete(claim);
  }

  /** Its machine was marked for deletion, or no longer is. */
  mark(claim: string, { isMarked }: { readonly isMarked: boolean }): void {
    const pool = this.#poolOf.get(claim);
    if (pool === undefined) return;
    if (isMarked) this.#counts.markDeleting(pool, claim);
    else this.#counts.markActive(pool, claim);
  }
}
