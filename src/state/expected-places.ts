/**
 * The claims on whose nodes the last round planned pods that ReplicaSets have yet to create: one entry a pod, by the uid of the
 * ReplicaSet. The next round plans the pods there that have come meanwhile. (02:P-35)
 */
export class ExpectedPlaces {
  #claims = new Map<string, string[]>();

  /** Without a claim: the pod is planned on a node that has none yet. */
  add(replicaSet: string, claim: string | undefined): void {
    if (claim === undefined) return;
    const claims = this.#claims.get(replicaSet);
    if (claims === undefined) this.#claims.set(replicaSet, [claim]);
    else claims.push(claim);
  }

  /** One of them; undefined if there is none left. */
  take(replicaSet: string): string | undefined {
    const claims = this.#claims.get(replicaSet);
    const claim = claims?.pop();
    if (claims?.length === 0) this.#claims.delete(replicaSet);
    return claim;
  }

  get isEmpty(): boolean {
    return this.#claims.size === 0;
  }

  /** Hands all of them over and begins anew. */
  takeAll(): ReadonlyMap<string, string[]> {
    const taken = this.#claims;
    this.#claims = new Map();
    return taken;
  }
}
