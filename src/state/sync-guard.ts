import type { Clock } from "../util/clock.ts";

/** Whether what is believed of the cluster is complete enough to decide on. (02:S-11) */
export class SyncGuard {
  readonly #clock: Clock;
  /** Claims whose machine is not known yet: they may bring room that a decision would buy twice. */
  readonly #unlaunched = new Set<string>();
  /** Nodes that cannot be told apart from others yet. (02:S-4, S-5) */
  readonly #untold = new Set<string>();
  #hasBegun = false;
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
  begin(): void {
    this.#hasBegun = true;
    this.#check();
  }

  claim(name: string, { isLaunched }: { readonly isLaunched: boolean }): void {
    if (isLaunched) this.#unlaunched.delete(name);
    else this.#unlaunched.add(name);
    this.#check();
  }

  node(name: string, { isTold }: { readonly isTold: boolean }): void {
    if (isTold) this.#untold.delete(name);
    else this.#untold.add(name);
    this.#check();
  }

  /** Once it was complete, only claims on their way hold it up. */
  #check(): void {
    const isWhole = this.#hasSynced || (this.#hasBegun && this.#untold.size === 0);
    if (!isWhole || this.#unlaunched.size > 0) this.#unsyncedSince ??= this.#clock.now();
    else {
      this.#unsyncedSince = undefined;
      this.#hasSynced = true;
    }
  }
}
