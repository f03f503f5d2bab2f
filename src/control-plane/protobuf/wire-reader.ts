/** The bytes are not valid protobuf. */
export class MalformedProtobuf extends Error {
  override readonly name = "MalformedProtobuf";
}

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export interface FieldTag {
  readonly number: number;
  readonly wireType: number;
}

/** Reads the primitives of the wire format in order. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  tag(): FieldTag {
    const key = this.varint();
    const number = Number(key >> 3n);
    if (number < 1 || number > 2 ** 29 - 1) throw new MalformedProtobuf(`field number ${number} is out of range`);
    return { number, wireType: Number(key & 7n) };
  }

  /** An unsigned 64-bit varint. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new MalformedProtobuf("the message ends in the middle of a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new MalformedProtobuf("a number takes more than ten bytes");
  }

  double(): number {
    const bytes = this.take(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
  }

  bytes(): Uint8Array {
    const length = this.varint();
    if (length > BigInt(this.#bytes.length)) throw new MalformedProtobuf("a field is longer than the message");
    return this.take(Number(length));
  }

  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new MalformedProtobuf("the message ends in the middle of a field");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** Unknown fields are skipped. */
  skip(wireType: number): void {
    if (wireType === wireTypes.varint) this.varint();
    else if (wireType === wireTypes.fixed64) this.take(8);
    else if (wireType === wireTypes.bytes) this.bytes();
    else if (wireType === wireTypes.fixed32) this.take(4);
    else throw new MalformedProtobuf(`wire type ${wireType} is not in use`);
  }
}
