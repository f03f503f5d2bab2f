import type { OfferingKey } from "../../cloud/offering-key.ts";

/** Which offerings are meant; a part that is left out means any. */
export type OfferingPattern = Partial<OfferingKey>;

interface SupplyRule {
  readonly pattern: OfferingPattern;
  readonly value: number;
  /** How many of it are in use. */
  used: number;
}

/** What is in stock, and what it costs where that differs from the catalogue. The last word on an offering counts. */
export class OfferingSupply {
  readonly #counts: SupplyRule[] = [];
  readonly #prices: SupplyRule[] = [];
  /** Machines in use by reservation. */
  readonly #reserved = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  #revision = 0;

  /** From now on so many can be had of all that match together; without a limit where nothing is said. */
  setAvailableCount(pattern: OfferingPattern, count: number): void {
    putRule(this.#counts, { pattern, value: count, used: 0 });
  }

  /** Dollars an hour. */
  setPrice(pattern: OfferingPattern, usdPerHour: number): void {
    putRule(this.#prices, { pattern, value: usdPerHour, used: 0 });
    this.#revision++;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Hears of every change of prices. Returns how to stop hearing. */
  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  priceOf(key: OfferingKey): number | undefined {
    return lastMatching(this.#prices, key)?.value;
  }

  /** Whether there was one left, of what is in stock and of what a reservation holds. */
  allocate(key: OfferingKey, reserved = Number.POSITIVE_INFINITY): boolean {
    const rule = lastMatching(this.#counts, key);
    if (this.reservationUsage(key) >= reserved || (rule !== undefined && rule.used >= rule.value)) return false;
    this.addUsage(key);
    return true;
  }

  /** Counts an instance that exists, also beyond what is available. */
  addUsage(key: OfferingKey): void {
    const rule = lastMatching(this.#counts, key);
    if (rule !== undefined) rule.used++;
    this.#addReservationUsage(key, 1);
  }

  /** A machine that ended can be had again. */
  release(key: OfferingKey): void {
    const rule = lastMatching(this.#counts, key);
    if (rule !== undefined && rule.used > 0) rule.used--;
    this.#addReservationUsage(key, -1);
  }

  /** How many machines run in the offering's reservation. */
  reservationUsage({ reservationId }: OfferingKey): number {
    return this.#reserved.get(reservationId ?? "") ?? 0;
  }

  #addReservationUsage({ reservationId }: OfferingKey, by: number): void {
    if (reservationId === undefined) return;
    this.#reserved.set(reservationId, Math.max(0, (this.#reserved.get(reservationId) ?? 0) + by));
    this.#revision++;
  }

  /** Whether prices of the type may differ from the catalogue. */
  hasPricesFor(instanceType: string): boolean {
    return this.#prices.some(({ pattern }) => (pattern.instanceType ?? instanceType) === instanceType);
  }

  /** Another number whenever prices changed, or what reservations hold. */
  get revision(): number {
    return this.#revision;
  }
}

const patternKeys = ["instanceType", "zone", "capacityType", "reservationId"] as const;

function putRule(rules: SupplyRule[], rule: SupplyRule): void {
  const isSame = ({ pattern }: SupplyRule): boolean =>
    patternKeys.every((part) => pattern[part] === rule.pattern[part]);
  const at = rules.findIndex(isSame);
  if (at >= 0) rules.splice(at, 1);
  rules.push(rule);
}

function lastMatching(rules: readonly SupplyRule[], key: OfferingKey): SupplyRule | undefined {
  return rules.findLast(({ pattern }) =>
    patternKeys.every((part) => pattern[part] === undefined || pattern[part] === key[part]),
  );
}
