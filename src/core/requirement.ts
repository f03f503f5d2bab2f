import type { RequirementItem } from "../api/kubernetes/pod.ts";
import { type LabelPolicy, normalizedKey } from "../api/label-policy.ts";
import type { RequirementOperator } from "../api/vocabulary.ts";
import type { Random } from "../util/random.ts";
import { maxInt64, minInt64, parseInt64 } from "./int64.ts";

/** The operator a requirement amounts to, bounds aside. (02:R-2) */
export type DerivedOperator = "In" | "NotIn" | "Exists" | "DoesNotExist";

interface RequirementFields {
  readonly key: string;
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  readonly gte?: bigint | undefined;
  readonly lte?: bigint | undefined;
  readonly minValues?: number | undefined;
}

const noValues: ReadonlySet<string> = new Set();
/** Longer value lists are cut when printed. (02:R-37) */
const valuesShown = 5;

/**
 * The values one label may have: a finite set, or everything but a finite set, in either case within optional bounds.
 * Immutable. (02:R-1)
 */
export class Requirement {
  readonly key: string;
  /** Whether `values` are the ones left out. */
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  /** Inclusive. */
  readonly gte: bigint | undefined;
  /** Inclusive. */
  readonly lte: bigint | undefined;
  /** How many distinct values must remain in play at launch. (02:R-30) */
  readonly minValues: number | undefined;
  #identity: string | undefined;

  private constructor({ key, complement, values, gte, lte, minValues }: RequirementFields) {
    this.key = key;
    this.complement = complement;
    this.values = values;
    this.gte = gte;
    this.lte = lte;
    this.minValues = minValues;
  }

  /** Reads a written requirement, with its key and values normalized by the policy. (02:R-22) */
  static fromItem(item: RequirementItem, policy: LabelPolicy): Requirement {
    const key = normalizedKey(policy, item.key);
    const { minValues } = item;
    switch (item.operator) {
      case "In":
        return new Requirement({ key, complement: false, values: normalizedValues(item, key, policy), minValues });
      case "NotIn":
        return new Requirement({ key, complement: true, values: normalizedValues(item, key, policy), minValues });
      case "Exists":
        return new Requirement({ key, complement: true, values: noValues, minValues });
      case "DoesNotExist":
        return new Requirement({ key, complement: false, values: noValues, minValues });
      default:
        return Requirement.bounded(key, item);
    }
  }

  static in(key: string, values: Iterable<string>): Requirement {
    return new Requirement({ key, complement: false, values: new Set(values) });
  }

  static notIn(key: string, values: Iterable<string>): Requirement {
    return new Requirement({ key, complement: true, values: new Set(values) });
  }

  static exists(key: string): Requirement {
    return new Requirement({ key, complement: true, values: noValues });
  }

  static doesNotExist(key: string): Requirement {
    return new Requirement({ key, complement: false, values: noValues });
  }

  /**
   * A bound nothing can satisfy, because it lies past the last 64-bit integer or is no integer at all, forbids the
   * label and forgets minValues. (02:R-1)
   */
  private static bounded(key: string, { operator, values, minValues }: RequirementItem): Requirement {
    const bound = inclusiveBound(operator, values?.[0] ?? "");
    if (bound === undefined) return Requirement.doesNotExist(key);
    const side = operator === "Gt" || operator === "Gte" ? { gte: bound } : { lte: bound };
    return new Requirement({ key, complement: true, values: noValues, ...side, minValues });
  }

  /** An empty set and DoesNotExist are the same. (02:R-2) */
  get operator(): DerivedOperator {
    if (this.complement) return this.values.size > 0 ? "NotIn" : "Exists";
    return this.values.size > 0 ? "In" : "DoesNotExist";
  }

  /** The number of possible values; a bigint, as "all integers but two" is not exact in a double. (02:R-3) */
  get length(): bigint {
    const size = BigInt(this.values.size);
    return this.complement ? maxInt64 - size : size;
  }

  /** The value, when there is exactly one: what may be written as a label. */
  get singleValue(): string | undefined {
    if (this.complement || this.values.size !== 1) return undefined;
    for (const value of this.values) return value;
    return undefined;
  }

  /** NotIn and DoesNotExist: satisfied by a node without the label. (02:R-25, 02:R-26) */
  get isNegative(): boolean {
    const { operator } = this;
    return operator === "NotIn" || operator === "DoesNotExist";
  }

  /** Equal requirements have equal identities. Cached: every pass asks for those of instance types. */
  get identity(): string {
    const { key, complement, values, gte, lte, minValues } = this;
    this.#identity ??= JSON.stringify([key, complement, String(gte), String(lte), minValues, [...values].sort()]);
    return this.#identity;
  }

  /** Whether the value is in the set and within the bounds. (02:R-5) */
  has(value: string): boolean {
    return this.values.has(value) !== this.complement && isWithin(value, this);
  }

  /** The values both allow, with the larger minValues. (02:R-10, 02:R-11) */
  intersection(other: Requirement): Requirement {
    const { key } = this;
    const bounds = mergedBounds(this, other);
    const minValues = larger(this.minValues, other.minValues);
    if (isContradictory(bounds)) return new Requirement({ key, complement: false, values: noValues, minValues });

    const values = new Set<string>();
    for (const value of mergedValues(this, other)) if (isWithin(value, bounds)) values.add(value);
    // A finite set is already filtered by the bounds, which are dropped.
    if (!this.complement || !other.complement) return new Requirement({ key, complement: false, values, minValues });
    return new Requirement({ key, complement: true, values, ...bounds, minValues });
  }

  /**
   * Whether the intersection is not empty. Two complements count as intersecting whenever their bounds do, even if every
   * integer in between is excluded. (02:R-12)
   */
  hasIntersection(other: Requirement): boolean {
    const bounds = mergedBounds(this, other);
    if (isContradictory(bounds)) return false;
    if (this.complement && other.complement) return true;
    for (const value of mergedValues(this, other)) if (isWithin(value, bounds)) return true;
    return false;
  }

  /** The same requirement with other minValues. (02:F-2) */
  withMinValues(minValues: number | undefined): Requirement {
    return new Requirement({ ...this, minValues });
  }

  /**
   * A value that satisfies the requirement, drawn at random if there are several; empty if there is none. An open set
   * yields an integer that is not excluded. (02:R-36, 01 §4.5)
   */
  any(random: Random): string {
    if (!this.complement) return this.values.size === 0 ? "" : random.pick(this.sortedValues());
    const exclusions = BigInt(this.values.size);
    const last = this.lte ?? maxInt64;
    // Labels count from zero, unless only negative numbers may be left. One number more than exclusions is choice enough.
    const first = this.gte ?? smaller(0n, last - exclusions);
    const count = last - first + 1n;
    const start = randomBelow(random, count);
    for (let step = 0n; step <= exclusions && step < count; step++) {
      const value = first + ((start + step) % count);
      if (this.has(String(value))) return String(value);
    }
    return "";
  }

  /** As the API writes it. Exclusions go along with bounds, unlike upstream, which loses them. (02:R-35, 02 §12.2-1) */
  toItems(): readonly RequirementItem[] {
    const items: RequirementItem[] = [];
    const add = (operator: RequirementOperator, values?: readonly string[]): void => {
      items.push({
        key: this.key,
        operator,
        ...(values === undefined ? {} : { values }),
        ...(this.minValues === undefined ? {} : { minValues: this.minValues }),
      });
    };
    if (this.gte !== undefined) add("Gte", [String(this.gte)]);
    if (this.lte !== undefined) add("Lte", [String(this.lte)]);
    if (this.values.size > 0) add(this.operator, this.sortedValues());
    else if (items.length === 0) add(this.operator);
    return items;
  }

  /** As events and logs print it. (02:R-37) */
  toString(): string {
    let text = `${this.key} ${this.operator}`;
    if (this.values.size > 0) text += ` [${this.shownValues().join(" ")}]`;
    if (this.gte !== undefined) text += ` >=${this.gte}`;
    if (this.lte !== undefined) text += ` <=${this.lte}`;
    if (this.minValues !== undefined) text += ` minValues ${this.minValues}`;
    return text;
  }

  sortedValues(): string[] {
    return [...this.values].sort();
  }

  private shownValues(): string[] {
    const values = this.sortedValues();
    if (values.length <= valuesShown) return values;
    return [...values.slice(0, valuesShown), `and ${values.length - valuesShown} others`];
  }
}

interface Bounds {
  readonly gte: bigint | undefined;
  readonly lte: bigint | undefined;
}

function normalizedValues(item: RequirementItem, key: string, policy: LabelPolicy): ReadonlySet<string> {
  const aliases = Object.hasOwn(policy.valueAliases, key) ? policy.valueAliases[key] : undefined;
  if (aliases === undefined) return new Set(item.values);
  return new Set(item.values?.map((value) => (Object.hasOwn(aliases, value) ? (aliases[value] ?? value) : value)));
}

/** Strict bounds move by one; past the end of the integers there is none. (02:R-1) */
function inclusiveBound(operator: string, text: string): bigint | undefined {
  const value = parseInt64(text);
  if (value === undefined) return undefined;
  if (operator === "Gt") return value === maxInt64 ? undefined : value + 1n;
  if (operator === "Lt") return value === minInt64 ? undefined : value - 1n;
  return value;
}

/** With any bound set, a value that is not an integer is outside. (02:R-4) */
function isWithin(value: string, { gte, lte }: Bounds): boolean {
  if (gte === undefined && lte === undefined) return true;
  const integer = parseInt64(value);
  if (integer === undefined) return false;
  return (gte === undefined || integer >= gte) && (lte === undefined || integer <= lte);
}

function mergedBounds(a: Bounds, b: Bounds): Bounds {
  return { gte: larger(a.gte, b.gte), lte: smaller(a.lte, b.lte) };
}

function isContradictory({ gte, lte }: Bounds): boolean {
  return gte !== undefined && lte !== undefined && gte > lte;
}

/** The values of the intersection, bounds aside: excluded ones if both are complements, else allowed ones. */
function* mergedValues(a: Requirement, b: Requirement): Iterable<string> {
  if (a.complement && b.complement) {
    yield* a.values;
    yield* b.values;
    return;
  }
  const [finite, other] = a.complement ? [b, a] : [a, b];
  for (const value of finite.values) if (other.values.has(value) !== other.complement) yield value;
}

function larger<T extends number | bigint>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined) return b;
  return b === undefined || a > b ? a : b;
}

function smaller<T extends number | bigint>(a: T | undefined, b: T): T;
function smaller<T extends number | bigint>(a: T | undefined, b: T | undefined): T | undefined;
function smaller<T extends number | bigint>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined) return b;
  return b === undefined || a < b ? a : b;
}

const word = 2 ** 32;

/** A number below `count`, drawn 32 bits at a time: the generator deals in doubles, label values in 64 bits. */
function randomBelow(random: Random, count: bigint): bigint {
  if (count <= 1n) return 0n;
  if (count <= BigInt(word)) return BigInt(random.int(Number(count)));
  return ((BigInt(random.int(word)) << 32n) | BigInt(random.int(word))) % count;
}
