import type { Clock } from "../util/clock.ts";

/** Whether cluster state is complete enough to decide on. (02:S-11) */
export class SyncStatus {
  readonly #clock: Clock;
  /** Unlaunched claims: a decision without them could launch the same capacity twice. */
  readonly #unlaunched = new Set<string>();
  /** Nodes whose provider id is not known yet. (02:S-4, S-5) */
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

  /** The initial lists are complete. */
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

  /** After the first sync, only unlaunched claims make it unsynced. */
  #check(): void {
    const isComplete = this.#hasSynced || (this.#hasListed && this.#unidentifiedNodes.size === 0);
    if (!isComplete || this.#unlaunched.size > 0) this.#unsyncedSince ??= this.#clock.now();
    else {
      this.#unsyncedSince = undefined;
      this.#hasSynced = true;
    }
  }
}
