/**
 * The hash that upstream stamps on pools and classes: `hashstructure` v2 with lists as sets, zero values left out and nil
 * taken as zero. Ours must have the same bits, so that a cluster changes hands without any claim looking drifted. (01 §6.3)
 *
 * `undefined` stands for the zero value of a Go field, which is left out. An empty map or list that was written out is no
 * zero value and counts.
 */
export type FieldHash = bigint | undefined;

export function textHash(text: string): bigint {
  return fnv1(new TextEncoder().encode(text));
}

/** An integer or boolean of so many bytes. */
export function integerHash(value: number | bigint | boolean, bytes: 1 | 4 | 8): bigint {
  return fnv1(littleEndian(BigInt.asUintN(64, BigInt(value))).subarray(0, bytes));
}

export function bytesHash(bytes: Uint8Array): bigint {
  return fnv1(bytes);
}

/** The fields in the order in which the Go type declares them, because each is folded into the ones before it. */
export function structHash(type: string, fields: Readonly<Record<string, FieldHash>>): bigint {
  let hash = textHash(type);
  for (const [name, field] of Object.entries(fields)) {
    if (field !== undefined) hash = folded(hash ^ pairHash(textHash(name), field));
  }
  return hash;
}

export function mapHash(entries: Readonly<Record<string, string>>): bigint {
  let hash = 0n;
  for (const [key, value] of Object.entries(entries)) hash ^= pairHash(textHash(key), textHash(value));
  return folded(hash);
}

/** Lists count as sets; an item that is there twice cancels out, as it does upstream. */
export function setHash(items: readonly bigint[]): bigint {
  return items.reduce((hash, item) => hash ^ item, 0n);
}

/** The hash of a field that may be unset. */
export function optionalHash<T>(value: T | null | undefined, hash: (value: T) => bigint): FieldHash {
  return value === undefined || value === null ? undefined : hash(value);
}

/** A plain text field, for which unset and empty are the same. */
export function plainTextHash(text: string | null | undefined): FieldHash {
  return text ? textHash(text) : undefined;
}

function pairHash(first: bigint, second: bigint): bigint {
  return fnv1(littleEndian(first, second));
}

function folded(hash: bigint): bigint {
  return fnv1(littleEndian(hash));
}

function littleEndian(...values: readonly bigint[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  for (const [at, value] of values.entries()) view.setBigUint64(at * 8, value, true);
  return new Uint8Array(view.buffer);
}

/**
 * 64-bit FNV-1. The prime is 2^40 + 0x1b3, so multiplying splits into two products that a number holds exactly; with
 * bigints it takes twenty times as long.
 */
function fnv1(bytes: Uint8Array): bigint {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of bytes) {
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + (low << 8) + Math.floor(product / 2 ** 32)) >>> 0;
    low = (product ^ byte) >>> 0;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}
