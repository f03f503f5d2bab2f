import type { FieldTypeCode } from "./protobuf-messages.ts";
import { MalformedProtobuf, WireReader, wireTypes } from "./wire-reader.ts";

export function scalarValue(value: bigint, type: "b" | "i"): boolean | number {
  return type === "b" ? value !== 0n : Number(BigInt.asIntN(64, value));
}

export function utf8Text(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new MalformedProtobuf("a string is not UTF-8");
  }
}

/** Types whose JSON is not an object. */
export function leafValue(bytes: Uint8Array, type: Exclude<FieldTypeCode, number | "b" | "i" | "d">): unknown {
  switch (type) {
    case "s":
      return utf8Text(bytes);
    case "y":
      return base64(bytes);
    case "T":
      return time(bytes);
    case "U":
      return time(bytes, { micro: true });
    case "D":
      return goDuration(numberIn(bytes, 1));
    case "Q":
      return textIn(bytes, 1) || "0";
    case "O":
      // 0: the number is set; 1: the text is.
      return numberIn(bytes, 1) === 0n ? Number(BigInt.asIntN(32, numberIn(bytes, 2))) : textIn(bytes, 3);
    case "R":
      return json(bytes);
    case "L":
      return texts(bytes);
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

const nanosIn = { h: 3_600_000_000_000n, m: 60_000_000_000n, s: 1_000_000_000n } as const;

/** As Go formats durations of whole seconds; fractions keep nine digits. */
function goDuration(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const hours = size / nanosIn.h;
  const minutes = (size % nanosIn.h) / nanosIn.m;
  const seconds = (size % nanosIn.m) / nanosIn.s;
  const fraction = (size % nanosIn.s).toString().padStart(9, "0").replace(/0+$/, "");
  const parts = [hours > 0n ? `${hours}h` : "", hours > 0n || minutes > 0n ? `${minutes}m` : ""];
  return `${nanos < 0n ? "-" : ""}${parts.join("")}${seconds}${fraction === "" ? "" : `.${fraction}`}s`;
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

function texts(bytes: Uint8Array): readonly string[] {
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
