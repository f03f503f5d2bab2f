import type { OfferingKey } from "../../cloud/offering-key.ts";

/** Matches offerings; an omitted part matches any. */
export type OfferingPattern = Partial<OfferingKey>;

interface SupplyRule {
  readonly pattern: OfferingPattern;
  readonly value: number;
  /** How many matching instances exist. */
  used: number;
}

/** How many of each offering are available, and prices that differ from the catalogue. The last rule for an offering applies. */
export class OfferingSupply {
  readonly #counts: SupplyRule[] = [];
  readonly #prices: SupplyRule[] = [];
  /** Instances by reservation. */
  readonly #reserved = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  #revision = 0;

  /** Limits how many instances all matching offerings provide together; unlimited by default. */
  setAvailableCount(pattern: OfferingPattern, count: number): void {
    putRule(this.#counts, { pattern, value: count, used: 0 });
  }

  /** Forgets the limit of exactly this pattern. */
  clearAvailableCount(pattern: OfferingPattern): void {
    removeRule(this.#counts, pattern);
  }

  /** Dollars an hour. */
  setPrice(pattern: OfferingPattern, usdPerHour: number): void {
    putRule(this.#prices, { pattern, value: usdPerHour, used: 0 });
    this.#revision++;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls the listener on every price change. Returns an unsubscribe function. */
  subscribe(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  priceOf(key: OfferingKey): number | undefined {
    return lastMatching(this.#prices, key)?.value;
  }

  /** Takes one, if supply and reservation allow. Returns whether they did. */
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

  /** Returns a terminated instance to the supply. */
  release(key: OfferingKey): void {
    const rule = lastMatching(this.#counts, key);
    if (rule !== undefined && rule.used > 0) rule.used--;
    this.#addReservationUsage(key, -1);
  }

  /** How many instances use the offering's reservation. */
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

  /** Changes whenever prices or reservation usage change. */
  get revision(): number {
    return this.#revision;
  }
}

const patternKeys = ["instanceType", "zone", "capacityType", "reservationId"] as const;

function putRule(rules: SupplyRule[], rule: SupplyRule): void {
  removeRule(rules, rule.pattern);
  rules.push(rule);
}

function removeRule(rules: SupplyRule[], removed: OfferingPattern): void {
  const at = rules.findIndex(({ pattern }) => patternKeys.every((part) => pattern[part] === removed[part]));
  if (at >= 0) rules.splice(at, 1);
}

function lastMatching(rules: readonly SupplyRule[], key: OfferingKey): SupplyRule | undefined {
  return rules.findLast(({ pattern }) =>
    patternKeys.every((part) => pattern[part] === undefined || pattern[part] === key[part]),
  );
}
