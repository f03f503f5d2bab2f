import type { Clock } from "../../../util/clock.ts";
import type { Quantity } from "../../../util/quantity.ts";

const rememberedMs = 60 * 24 * 60 * 60_000;

interface SeenAmount {
  readonly memory: Quantity;
  readonly untilMs: number;
}

/** Memory that nodes turned out to have, by instance type and images of their class. It is never raised: the least counts. (04 §2.3) */
export class SeenMemory {
  readonly #clock: Pick<Clock, "now">;
  readonly #seen = new Map<string, SeenAmount>();
  #revision = 0;

  constructor({ clock }: { readonly clock: Pick<Clock, "now"> }) {
    this.#clock = clock;
  }

  get(instanceType: string, amiIds: readonly string[]): Quantity | undefined {
    this.#dropOld();
    return this.#seen.get(keyOf(instanceType, amiIds))?.memory;
  }

  /** A node of the type reported this much. */
  record(instanceType: string, amiIds: readonly string[], memory: Quantity): void {
    const key = keyOf(instanceType, amiIds);
    const known = this.get(instanceType, amiIds);
    const least = known !== undefined && known.cmp(memory) < 0 ? known : memory;
    if (known === undefined || known.cmp(least) !== 0) this.#revision++;
    this.#seen.delete(key); // moves to the end, so that amounts stay in order of expiry
    this.#seen.set(key, { memory: least, untilMs: this.#clock.now() + rememberedMs });
  }

  /** Changes with any amount, also when one is forgotten. */
  get revision(): number {
    this.#dropOld();
    return this.#revision;
  }

  #dropOld(): void {
    const now = this.#clock.now();
    for (const [key, { untilMs }] of this.#seen) {
      if (untilMs > now) return;
      this.#seen.delete(key);
      this.#revision++;
    }
  }
}

function keyOf(instanceType: string, amiIds: readonly string[]): string {
  return [instanceType, ...[...amiIds].sort()].join("/");
}
