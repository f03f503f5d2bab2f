import { nanoPerUnit, type QuantityFormat } from "./quantity-format.ts";

/** A parsed quantity; `written` is set when Kubernetes keeps the text as it is. */
export interface ParsedQuantity {
  readonly nano: bigint;
  readonly format: QuantityFormat;
  readonly written: string | undefined;
}

interface Unit {
  readonly format: QuantityFormat;
  /** Power of ten, or of two for BinarySI. */
  readonly exponent: number;
  /** The unit in nanos. */
  readonly nano: bigint;
}

/** The digits as written, without leading zeros of the integer part; both parts may be empty. */
interface Digits {
  readonly integer: string;
  readonly fraction: string;
}

/** Longer texts and larger exponents are refused: arithmetic on them would block the process. */
const limit = 1_000;

const maxBinaryNano = (2n ** 63n - 1n) * nanoPerUnit;

// Linear on any input: no two adjacent repetitions can match the same character.
const pattern = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

const units: ReadonlyMap<string, Unit> = new Map([
  ...["n", "u", "m", "", "k", "M", "G", "T", "P", "E"].map((suffix, i) => [suffix, decimalUnit(3 * i - 9)] as const),
  ...["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((suffix, i) => [suffix, binaryUnit(10 * (i + 1))] as const),
]);

/**
 * Parses a quantity; undefined if the text is not one. (02:A-1)
 *
 * Accepts what the API server's parser accepts, except texts without any digit ("+", ".", "m", which it takes for zero)
 * and very long ones (see `limit`). Values finer than a nano round away from zero; binary ones stop at 2^63-1.
 */
export function parseQuantity(text: string): ParsedQuantity | undefined {
  const match = text.length > limit ? null : pattern.exec(text);
  if (match === null) return undefined;
  const [, sign, leading = "", fraction = "", suffix = ""] = match;
  const unit = units.get(suffix) ?? exponentUnit(suffix);
  if (unit === undefined) return undefined;

  const digits = { integer: withoutLeadingZeros(leading), fraction };
  const magnitude = magnitudeOf(digits, unit);
  return {
    nano: sign === "-" ? -magnitude : magnitude,
    format: formatOf(magnitude, digits, unit),
    written: isWrittenBack(digits, unit) ? text : undefined,
  };
}

function decimalUnit(exponent: number): Unit {
  return { format: "DecimalSI", exponent, nano: 10n ** BigInt(exponent + 9) };
}

function binaryUnit(exponent: number): Unit {
  return { format: "BinarySI", exponent, nano: nanoPerUnit << BigInt(exponent) };
}

function exponentUnit(suffix: string): Unit | undefined {
  const exponent = Number(suffix.slice(1));
  if (Math.abs(exponent) > limit) return undefined;
  // Units below a nano are not a whole number of nanos; `magnitudeOf` then works on the digits.
  return { format: "DecimalExponent", exponent, nano: exponent < -9 ? 0n : 10n ** BigInt(exponent + 9) };
}

function withoutLeadingZeros(digits: string): string {
  let start = 0;
  while (digits.charCodeAt(start) === 48) start++;
  return start === 0 ? digits : digits.slice(start);
}

function magnitudeOf(digits: Digits, unit: Unit): bigint {
  if (unit.format === "BinarySI") return binaryMagnitude(digits, unit);
  if (digits.fraction === "" && unit.exponent >= -9) return whole(digits.integer) * unit.nano;
  return shiftedDigits(digits.integer + digits.fraction, unit.exponent + 9 - digits.fraction.length);
}

function binaryMagnitude({ integer, fraction }: Digits, unit: Unit): bigint {
  const scaled = whole(integer + fraction) * unit.nano;
  const magnitude = fraction === "" ? scaled : ceilDivide(scaled, 10n ** BigInt(fraction.length));
  if (magnitude > maxBinaryNano) return maxBinaryNano;
  return magnitude;
}

/** digits * 10^shift, rounded up, so that no request for something becomes a request for nothing. */
function shiftedDigits(digits: string, shift: number): bigint {
  if (shift >= 0) return BigInt(digits) * 10n ** BigInt(shift);
  const kept = BigInt(digits.slice(0, Math.max(0, digits.length + shift)));
  const lost = digits.slice(Math.max(0, digits.length + shift));
  return /[1-9]/.test(lost) ? kept + 1n : kept;
}

/** Through a double where that is exact: three times faster than parsing the string. */
function whole(digits: string): bigint {
  return digits.length <= 15 ? BigInt(Number(digits)) : BigInt(digits);
}

function ceilDivide(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

/** A binary suffix cannot express less than one unit, so such a value becomes decimal. */
function formatOf(magnitude: bigint, { fraction }: Digits, unit: Unit): QuantityFormat {
  const isFractional = unit.format === "BinarySI" && fraction !== "" && magnitude > 0n && magnitude < nanoPerUnit;
  return isFractional ? "DecimalSI" : unit.format;
}

/**
 * Kubernetes keeps a text it considers canonical, and some it keeps are not: "1.234", "+5", "1E3" and "007" come back
 * unchanged, while "1.5" becomes "1500m". We do the same, so that manifests make the round trip.
 */
function isWrittenBack({ integer, fraction }: Digits, { format, exponent }: Unit): boolean {
  if (integer === "") return false;
  if (format === "BinarySI") {
    const fits = integer.length + (exponent * 3) / 10 <= 14;
    return fraction === "" && fits && Number(integer) % 8 !== 0;
  }
  const scale = exponent - fraction.length;
  const digits = integer + fraction;
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith("000");
}
