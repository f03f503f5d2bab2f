import type { Clock } from "../../../util/clock.ts";
import { ExpiringMap } from "../../../util/expiring-map.ts";
import type { Quantity } from "../../../util/quantity.ts";

const rememberedMs = 60 * 24 * 60 * 60_000;

/** Memory that nodes turned out to have, by instance type and images of their class. It is never raised: the least counts. (04 §2.3) */
export class SeenMemory {
  readonly #seen: ExpiringMap<Quantity>;
  #revision = 0;

  constructor({ clock }: { readonly clock: Clock }) {
    this.#seen = new ExpiringMap(clock);
  }

  get(instanceType: string, amiIds: readonly string[]): Quantity | undefined {
    return this.#seen.get(keyOf(instanceType, amiIds));
  }

  /** A node of the type reported this much. */
  record(instanceType: string, amiIds: readonly string[], memory: Quantity): void {
    const key = keyOf(instanceType, amiIds);
    const known = this.#seen.get(key);
    const least = known !== undefined && known.cmp(memory) < 0 ? known : memory;
    if (known === undefined || known.cmp(least) !== 0) this.#revision++;
    this.#seen.set(key, least, rememberedMs);
  }

  /** Changes with any amount. */
  get revision(): number {
    return this.#revision;
  }
}

function keyOf(instanceType: string, amiIds: readonly string[]): string {
  return [instanceType, ...[...amiIds].sort()].join("/");
}
