import type { Clock } from "../util/clock.ts";

/** Whether what is believed of the cluster is complete enough to decide on. (02:S-11) */
export class SyncStatus {
  readonly #clock: Clock;
  /** Claims whose machine is not known yet: they may bring room that a decision would buy twice. */
  readonly #unlaunched = new Set<string>();
  /** Nodes that cannot be told apart from others yet. (02:S-4, S-5) */
  readonly #unidentifiedNodes = new Set<string>();
  #hasListed = false;
  #hasSynced = false;
  #unsyncedSince: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#unsyncedSince = clock.now();
  }

  get isSynced(): boolean {
    return this.#unsyncedSince === undefined;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get unsyncedSince(): number | undefined {
    return this.#unsyncedSince;
  }

  /** By name. */
  unlaunched(): readonly string[] {
    return [...this.#unlaunched].sort();
  }

  isUnlaunched(claim: string): boolean {
    return this.#unlaunched.has(claim);
  }

  /** Everything that existed has been told. */
  markInitialListComplete(): void {
    this.#hasListed = true;
    this.#check();
  }

  updateClaim(name: string, { isLaunched }: { readonly isLaunched: boolean }): void {
    if (isLaunched) this.#unlaunched.delete(name);
    else this.#unlaunched.add(name);
    this.#check();
  }

  updateNode(name: string, { isIdentified }: { readonly isIdentified: boolean }): void {
    if (isIdentified) this.#unidentifiedNodes.delete(name);
    else this.#unidentifiedNodes.add(name);
    this.#check();
  }

  /** Once it was complete, only claims on their way hold it up. */
  #check(): void {
    const isComplete = this.#hasSynced || (this.#hasListed && this.#unidentifiedNodes.size === 0);
    if (!isComplete || this.#unlaunched.size > 0) this.#unsyncedSince ??= this.#clock.now();
    else {
      this.#unsyncedSince = undefined;
      this.#hasSynced = true;
    }
  }
}
