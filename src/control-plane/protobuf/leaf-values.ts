import type { FieldSchema } from "../../api/kubernetes/field-schema.ts";
import { MalformedProtobuf, WireReader, wireTypes } from "./wire-reader.ts";

export function scalarValue(value: bigint, type: "boolean" | "int32" | "int64"): boolean | number {
  return type === "boolean" ? value !== 0n : Number(BigInt.asIntN(64, value));
}

export function utf8Text(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new MalformedProtobuf("a string is not UTF-8");
  }
}

/** The value of a type whose JSON is not an object, from the message or bytes it is on the wire. */
export function leafValue(bytes: Uint8Array, type: FieldSchema["is"]): unknown {
  switch (type) {
    case "string":
      return utf8Text(bytes);
    case "bytes":
      return base64(bytes);
    case "time":
      return time(bytes);
    case "micro-time":
      return time(bytes, { micro: true });
    case "quantity":
      return textIn(bytes, 1) || "0";
    case "int-or-string":
      // 0: the number is set; 1: the text is.
      return numberIn(bytes, 1) === 0n ? Number(BigInt.asIntN(32, numberIn(bytes, 2))) : textIn(bytes, 3);
    case "any":
      return json(bytes);
    default:
      throw new Error(`no protobuf encoding is known for ${type}`);
  }
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Undefined for the zero time, which clients send as creationTimestamp of a new object. */
function time(bytes: Uint8Array, { micro = false }: { readonly micro?: boolean } = {}): string | undefined {
  if (bytes.length === 0) return undefined;
  const seconds = Number(numberIn(bytes, 1));
  const nanos = Number(numberIn(bytes, 2));
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) throw new MalformedProtobuf("a time is out of range");
  const whole = at.toISOString().slice(0, -".000Z".length);
  return micro
    ? `${whole}.${Math.trunc(nanos / 1000)
        .toString()
        .padStart(6, "0")}Z`
    : `${whole}Z`;
}

function json(bytes: Uint8Array): unknown {
  const raw = bytesIn(bytes, 1);
  if (raw === undefined || raw.length === 0) return undefined;
  try {
    return JSON.parse(utf8Text(raw));
  } catch (error) {
    if (error instanceof MalformedProtobuf) throw error;
    throw new MalformedProtobuf("a raw extension is not JSON");
  }
}

/** The items of a message that stands for a list of strings. */
export function textList(bytes: Uint8Array): readonly string[] {
  const found: string[] = [];
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, wireType } = reader.tag();
    if (number === 1 && wireType === wireTypes.bytes) found.push(utf8Text(reader.bytes()));
    else reader.skip(wireType);
  }
  return found;
}

/** The last value of a repeated field counts, as the wire format says; zero if absent. */
function numberIn(bytes: Uint8Array, wanted: number): bigint {
  let value = 0n;
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, wireType } = reader.tag();
    if (number === wanted && wireType === wireTypes.varint) value = BigInt.asIntN(64, reader.varint());
    else reader.skip(wireType);
  }
  return value;
}

function textIn(bytes: Uint8Array, wanted: number): string {
  const found = bytesIn(bytes, wanted);
  return found === undefined ? "" : utf8Text(found);
}

function bytesIn(bytes: Uint8Array, wanted: number): Uint8Array | undefined {
  let value: Uint8Array | undefined;
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, wireType } = reader.tag();
    if (number === wanted && wireType === wireTypes.bytes) value = reader.bytes();
    else reader.skip(wireType);
  }
  return value;
}
