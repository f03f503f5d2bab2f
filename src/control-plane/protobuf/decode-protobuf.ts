import type { WireField } from "../../api/kubernetes/built-in-fields.ts";
import type { FieldSchema } from "../../api/kubernetes/field-schema.ts";
import { leafValue, scalarValue, textList, utf8Text } from "./leaf-values.ts";
import type { ProtobufMessage, ProtobufMessages } from "./protobuf-messages.ts";
import { MalformedProtobuf, WireReader, wireTypes } from "./wire-reader.ts";

/** `k8s` and a zero byte: every protobuf body of the Kubernetes API begins with it. */
const magic = [0x6b, 0x38, 0x73, 0x00];

/** Deeper than any known kind: messages contain themselves only in JSON schemas, which we do not read. */
const maxDepth = 64;

export type DecodedProtobuf =
  | { readonly kind: "object"; readonly object: Record<string, unknown> }
  /** The kind is not in our tables. */
  | { readonly kind: "unknown-kind"; readonly apiVersion: string; readonly name: string }
  | { readonly kind: "malformed"; readonly because: string };

/** Decodes a protobuf request body to what it would be in JSON. (05 §3) */
export function decodeProtobuf(body: Uint8Array, messages: ProtobufMessages): DecodedProtobuf {
  try {
    return decodeEnvelope(body, messages);
  } catch (error) {
    if (error instanceof MalformedProtobuf) return { kind: "malformed", because: error.message };
    throw error;
  }
}

/** `runtime.Unknown`: kind and raw bytes. */
function decodeEnvelope(body: Uint8Array, messages: ProtobufMessages): DecodedProtobuf {
  if (!magic.every((byte, index) => body[index] === byte)) {
    throw new MalformedProtobuf("the body does not begin with the prefix of the Kubernetes protobuf format");
  }
  let apiVersion = "";
  let name = "";
  let raw: Uint8Array = new Uint8Array();
  const reader = new WireReader(body.subarray(magic.length));
  while (!reader.done) {
    const { number, wireType } = reader.tag();
    if (number === 1 && wireType === wireTypes.bytes) ({ apiVersion, kind: name } = decodeTypeMeta(reader.bytes()));
    else if (number === 2 && wireType === wireTypes.bytes) raw = reader.bytes();
    else reader.skip(wireType);
  }
  const message = messages.ofKind(apiVersion, name);
  if (message === undefined) return { kind: "unknown-kind", apiVersion, name };
  const object = { apiVersion, kind: name, ...decodeMessage(raw, { message, messages, depth: 0 }) };
  return { kind: "object", object };
}

function decodeTypeMeta(bytes: Uint8Array): { readonly apiVersion: string; readonly kind: string } {
  let apiVersion = "";
  let kind = "";
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, wireType } = reader.tag();
    if (number === 1 && wireType === wireTypes.bytes) apiVersion = utf8Text(reader.bytes());
    else if (number === 2 && wireType === wireTypes.bytes) kind = utf8Text(reader.bytes());
    else reader.skip(wireType);
  }
  return { apiVersion, kind };
}

interface MessageContext {
  readonly message: ProtobufMessage;
  readonly messages: ProtobufMessages;
  readonly depth: number;
}

function decodeMessage(bytes: Uint8Array, context: MessageContext): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  readMessage(bytes, { ...context, entries });
  // `fromEntries` creates own properties for any key, also for `__proto__`. (05:CP-S3)
  return Object.fromEntries([...entries].map(([name, value]) => [name, value instanceof Map ? fromMap(value) : value]));
}

interface EntriesContext extends MessageContext {
  readonly entries: Map<string, unknown>;
}

function readMessage(bytes: Uint8Array, context: EntriesContext): void {
  if (context.depth > maxDepth) throw new MalformedProtobuf("messages are nested too deeply");
  const reader = new WireReader(bytes);
  while (!reader.done) {
    const { number, wireType } = reader.tag();
    const field = context.message.get(number);
    if (field === undefined) reader.skip(wireType);
    else if (field instanceof Map) {
      expectWire("an inlined message", { wireType, expected: wireTypes.bytes });
      readMessage(reader.bytes(), { ...context, message: field, depth: context.depth + 1 });
    } else readField(reader, { ...context, field: field as WireField, wireType });
  }
}

function fromMap(map: ReadonlyMap<unknown, unknown>): Record<string, unknown> {
  return Object.fromEntries([...map].map(([key, value]) => [String(key), value]));
}

interface FieldContext extends EntriesContext {
  readonly field: WireField;
  readonly wireType: number;
}

function readField(reader: WireReader, context: FieldContext): void {
  const { entries } = context;
  const { name, type, keepsZero } = context.field;
  if (type.is === "map") {
    const [key, value] = readMapEntry(reader, type.of, context);
    mapIn(entries, name).set(key, value);
    return;
  }
  const value = readValue(reader, type.is === "list" ? type.of : type, context);
  if (type.is === "list") listIn(entries, name).push(value);
  else if (value !== undefined && (keepsZero || !isZero(value))) entries.set(name, value);
}

function mapIn(entries: Map<string, unknown>, name: string): Map<unknown, unknown> {
  const known = entries.get(name);
  const map = known instanceof Map ? known : new Map<unknown, unknown>();
  entries.set(name, map);
  return map;
}

function listIn(entries: Map<string, unknown>, name: string): unknown[] {
  const known = entries.get(name);
  const list: unknown[] = Array.isArray(known) ? known : [];
  entries.set(name, list);
  return list;
}

/**
 * Zero values that JSON omits with omitempty. An empty message is kept: in Go it is a struct, which is always written.
 */
function isZero(value: unknown): boolean {
  return value === "" || value === 0 || value === false;
}

function readMapEntry(reader: WireReader, type: FieldSchema, context: FieldContext): readonly [string, unknown] {
  expectWire(`field ${context.field.name}`, { wireType: context.wireType, expected: wireTypes.bytes });
  const entry = new WireReader(reader.bytes());
  let key = "";
  let value: unknown = type.is === "string" || type.is === "bytes" ? "" : undefined;
  while (!entry.done) {
    const { number, wireType } = entry.tag();
    if (number === 1 && wireType === wireTypes.bytes) key = utf8Text(entry.bytes());
    else if (number === 2) value = readValue(entry, type, { ...context, wireType });
    else entry.skip(wireType);
  }
  return [key, value ?? {}];
}

function readValue(reader: WireReader, type: FieldSchema, context: FieldContext): unknown {
  const { field, wireType, messages, depth } = context;
  const expect = (expected: number): void => expectWire(`field ${field.name}`, { wireType, expected });
  switch (type.is) {
    case "boolean":
    case "int32":
    case "int64":
      expect(wireTypes.varint);
      return scalarValue(reader.varint(), type.is);
    case "number":
      expect(wireTypes.fixed64);
      return reader.double();
  }
  expect(wireTypes.bytes);
  const bytes = reader.bytes();
  if (type.is === "list") return textList(bytes); // the value of a map: in Go a list of strings, here a message of items
  if (type.is !== "object" || type.definition === undefined) return leafValue(bytes, type.is);
  return decodeMessage(bytes, { message: messages.ofDefinition(type.definition), messages, depth: depth + 1 });
}

function expectWire(
  what: string,
  { wireType, expected }: { readonly wireType: number; readonly expected: number },
): void {
  if (wireType !== expected) throw new MalformedProtobuf(`${what} has wire type ${wireType}, expected ${expected}`);
}
