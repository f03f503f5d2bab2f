/**
 * The claim whose node each pod was planned on, by the last decision about the pod. The next round reads it, and pods are
 * nominated to the node once it has joined. (02:L-32, L-40)
 */
export class PlannedPods {
  /** By pod; undefined: a round found no place for it, or none with a claim. */
  readonly #claims = new Map<string, string | undefined>();
  readonly #pods = new Map<string, Set<string>>();
  readonly #listeners = new Set<(pod: string) => void>();
  readonly #exists: (pod: string) => boolean;

  /** A round may plan a pod that was deleted meanwhile: only those that exist are recorded, as nothing removes others. */
  constructor(exists: (pod: string) => boolean = () => true) {
    this.#exists = exists;
  }

  /** Whether anything was decided about the pod since this process started. */
  isDecided(pod: string): boolean {
    return this.#claims.has(pod);
  }

  claimOf(pod: string): string | undefined {
    return this.#claims.get(pod);
  }

  podsOf(claim: string): readonly string[] {
    return [...(this.#pods.get(claim) ?? [])];
  }

  /** Without a claim: it is planned nowhere. */
  plan(pod: string, claim: string | undefined): void {
    if (!this.#exists(pod) || (this.#claims.has(pod) && this.#claims.get(pod) === claim)) return;
    this.forget(pod);
    this.#claims.set(pod, claim);
    if (claim !== undefined) this.#pods.set(claim, (this.#pods.get(claim) ?? new Set<string>()).add(pod));
    for (const listener of this.#listeners) listener(pod);
  }

  /** The pod is gone. */
  forget(pod: string): void {
    const claim = this.#claims.get(pod);
    this.#claims.delete(pod);
    if (claim === undefined) return;
    const others = this.#pods.get(claim);
    others?.delete(pod);
    if (others?.size === 0) this.#pods.delete(claim);
  }

  /** Calls the listener with each pod whose plan changes; returns how to stop. */
  subscribe(listener: (pod: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
