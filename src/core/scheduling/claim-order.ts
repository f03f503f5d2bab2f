/**
 * Planned nodes in the order they are tried: fewest pods first. The same order as sorting the list stably before every
 * attempt, without sorting: a node that gains a pod goes to the front of the next bucket, a new one to the back of the
 * first. (02:Q-20, 02 §10.3-3)
 */
export class ClaimOrder {
  /** By pod count; each bucket front to back, linked through `#next` and `#previous`. */
  readonly #heads: number[] = [];
  readonly #tails: number[] = [];
  readonly #next: number[] = [];
  readonly #previous: number[] = [];
  readonly #count: number[] = [];

  /** A claim with its first pod. */
  open(claim: number): void {
    this.#count[claim] = 1;
    const tail = this.#tails[1] ?? -1;
    this.#next[claim] = -1;
    this.#previous[claim] = tail;
    if (tail < 0) this.#heads[1] = claim;
    else this.#next[tail] = claim;
    this.#tails[1] = claim;
  }

  /** The claim has one pod more. */
  grow(claim: number): void {
    this.#unlink(claim);
    const count = (this.#count[claim] ?? 0) + 1;
    this.#count[claim] = count;
    const head = this.#heads[count] ?? -1;
    this.#previous[claim] = -1;
    this.#next[claim] = head;
    if (head < 0) this.#tails[count] = claim;
    else this.#previous[head] = claim;
    this.#heads[count] = claim;
  }

  /** The first claim the test takes; -1 when it takes none. */
  find(takes: (claim: number) => boolean): number {
    for (let count = 1; count < this.#heads.length; count++) {
      for (let claim = this.#heads[count] ?? -1; claim >= 0; claim = this.#next[claim] as number) {
        if (takes(claim)) return claim;
      }
    }
    return -1;
  }

  #unlink(claim: number): void {
    const count = this.#count[claim] ?? 0;
    const previous = this.#previous[claim] ?? -1;
    const next = this.#next[claim] ?? -1;
    if (previous < 0) this.#heads[count] = next;
    else this.#next[previous] = next;
    if (next < 0) this.#tails[count] = previous;
    else this.#previous[next] = previous;
  }
}
