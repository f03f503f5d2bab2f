import { formatQuantity, nanoPerUnit, type QuantityFormat } from "./quantity-format.ts";
import { type ParsedQuantity, parseQuantity } from "./quantity-parse.ts";

export type { QuantityFormat } from "./quantity-format.ts";

/** A text that is not a quantity. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
  readonly text: string;

  constructor(text: string) {
    super(
      `${JSON.stringify(shortened(text))} is not a quantity: expected a number with an optional suffix ` +
        "(n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei) or exponent (e3), like 500m, 1.5Gi or 12e6",
    );
    this.text = text;
  }
}

/**
 * An exact amount of a resource, as Kubernetes counts it: a whole number of nanos and the suffix family it is written
 * with. Immutable; never a float, because memory may carry milli-bytes and sums pass 2^53. (02:A-1, 02:A-13)
 */
export class Quantity {
  static readonly zero = new Quantity({ nano: 0n, format: "DecimalSI", written: undefined });

  readonly nano: bigint;
  readonly format: QuantityFormat;
  readonly #written: string | undefined;

  private constructor({ nano, format, written }: ParsedQuantity) {
    this.nano = nano;
    this.format = format;
    this.#written = written;
  }

  /** Parses "500m", "1.5Gi", "12e6"; throws a `QuantityError` on anything else. */
  static parse(text: string): Quantity {
    const parsed = parseQuantity(text);
    if (parsed === undefined) throw new QuantityError(text);
    return new Quantity(parsed);
  }

  /** Parses a quantity of a YAML or JSON document, where it may be a number. */
  static tryParse(value: string | number): Quantity | undefined {
    const parsed = parseQuantity(typeof value === "number" ? String(value) : value);
    return parsed && new Quantity(parsed);
  }

  /** From whole units; a fraction throws. */
  static of(value: number | bigint, format: QuantityFormat = "DecimalSI"): Quantity {
    return Quantity.fromNano(BigInt(value) * nanoPerUnit, format);
  }

  /** From thousandths, the unit of CPU. */
  static milli(value: number | bigint, format: QuantityFormat = "DecimalSI"): Quantity {
    return Quantity.fromNano(BigInt(value) * 1_000_000n, format);
  }

  static fromNano(nano: bigint, format: QuantityFormat = "DecimalSI"): Quantity {
    return new Quantity({ nano, format, written: undefined });
  }

  /** Keeps this quantity's format, unless it is zero. (02:A-1) */
  add(other: Quantity): Quantity {
    return Quantity.fromNano(this.nano + other.nano, this.isZero() ? other.format : this.format);
  }

  /** As for `add`, zero adopts the other's format. */
  sub(other: Quantity): Quantity {
    return Quantity.fromNano(this.nano - other.nano, this.isZero() ? other.format : this.format);
  }

  neg(): Quantity {
    return Quantity.fromNano(-this.nano, this.format);
  }

  cmp(other: Quantity): -1 | 0 | 1 {
    if (this.nano === other.nano) return 0;
    return this.nano < other.nano ? -1 : 1;
  }

  /** Whether the amounts are equal, in any format. */
  equals(other: Quantity): boolean {
    return this.nano === other.nano;
  }

  isZero(): boolean {
    return this.nano === 0n;
  }

  sign(): -1 | 0 | 1 {
    if (this.nano === 0n) return 0;
    return this.nano < 0n ? -1 : 1;
  }

  /** Whole units, rounded away from zero. Exact at any size, where Kubernetes overflows. */
  value(): bigint {
    return divideAwayFromZero(this.nano, nanoPerUnit);
  }

  /** Thousandths, rounded away from zero. */
  milliValue(): bigint {
    return divideAwayFromZero(this.nano, 1_000_000n);
  }

  /** The nearest double: for display, ratios and scores; do not use it to decide whether something fits. */
  toNumber(): number {
    const nano = Number(this.nano);
    // A division of exact operands rounds once; beyond 2^53 only a decimal literal does.
    return Number.isSafeInteger(nano) ? nano / 1e9 : Number(`${this.nano}e-9`);
  }

  /** As Kubernetes writes it: canonical, or the original text where Kubernetes keeps that. */
  toString(): string {
    return this.#written ?? this.canonical();
  }

  /** The canonical form: the same for equal amounts of one format. */
  canonical(): string {
    return formatQuantity(this.nano, this.format);
  }

  toJSON(): string {
    return this.toString();
  }
}

function divideAwayFromZero(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  if (quotient * divisor === dividend) return quotient;
  return dividend < 0n ? quotient - 1n : quotient + 1n;
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
