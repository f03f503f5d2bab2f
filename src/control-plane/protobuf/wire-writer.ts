import { wireTypes } from "./wire-reader.ts";

/** Writes the fields of one message in order. */
export class WireWriter {
  readonly #parts: Uint8Array[] = [];

  /** A whole number or boolean; negative ones take ten bytes. */
  varint(field: number, value: number | boolean): void {
    this.#tag(field, wireTypes.varint);
    this.#parts.push(varintBytes(BigInt.asUintN(64, BigInt(value))));
  }

  double(field: number, value: number): void {
    this.#tag(field, wireTypes.fixed64);
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#parts.push(bytes);
  }

  text(field: number, value: string): void {
    this.bytes(field, Buffer.from(value));
  }

  /** Bytes, or a message within this one. */
  bytes(field: number, value: Uint8Array): void {
    this.#tag(field, wireTypes.bytes);
    this.#parts.push(varintBytes(BigInt(value.length)), value);
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #tag(field: number, wireType: number): void {
    this.#parts.push(varintBytes(BigInt(field * 8 + wireType)));
  }
}

function varintBytes(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}
