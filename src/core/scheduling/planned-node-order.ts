/**
 * Planned nodes in the order they are tried: fewest pods first. This is the order a stable sort before every attempt
 * would give, without sorting: a node that gains a pod goes to the front of the next bucket, a new one to the back of
 * the first. (02:Q-20, 02 §10.3-3)
 */
export class PlannedNodeOrder {
  /** Buckets by pod count, each a list linked through `#next` and `#previous`. */
  readonly #heads: number[] = [];
  readonly #tails: number[] = [];
  readonly #next: number[] = [];
  readonly #previous: number[] = [];
  readonly #count: number[] = [];

  /** Adds a planned node that has its first pod. */
  add(plannedNode: number): void {
    this.#count[plannedNode] = 1;
    const tail = this.#tails[1] ?? -1;
    this.#next[plannedNode] = -1;
    this.#previous[plannedNode] = tail;
    if (tail < 0) this.#heads[1] = plannedNode;
    else this.#next[tail] = plannedNode;
    this.#tails[1] = plannedNode;
  }

  /** The planned node has one more pod. */
  podAdded(plannedNode: number): void {
    this.#unlink(plannedNode);
    const count = (this.#count[plannedNode] ?? 0) + 1;
    this.#count[plannedNode] = count;
    const head = this.#heads[count] ?? -1;
    this.#previous[plannedNode] = -1;
    this.#next[plannedNode] = head;
    if (head < 0) this.#tails[count] = plannedNode;
    else this.#previous[head] = plannedNode;
    this.#heads[count] = plannedNode;
  }

  /** The first planned node that is accepted; -1 when none is. */
  find(accepts: (plannedNode: number) => boolean): number {
    for (let count = 1; count < this.#heads.length; count++) {
      for (
        let plannedNode = this.#heads[count] ?? -1;
        plannedNode >= 0;
        plannedNode = this.#next[plannedNode] as number
      ) {
        if (accepts(plannedNode)) return plannedNode;
      }
    }
    return -1;
  }

  #unlink(plannedNode: number): void {
    const count = this.#count[plannedNode] ?? 0;
    const previous = this.#previous[plannedNode] ?? -1;
    const next = this.#next[plannedNode] ?? -1;
    if (previous < 0) this.#heads[count] = next;
    else this.#next[previous] = next;
    if (next < 0) this.#tails[count] = previous;
    else this.#previous[next] = previous;
  }
}
