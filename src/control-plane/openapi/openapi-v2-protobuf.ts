import { isRecord } from "../../api/object.ts";
import { WireWriter } from "../protobuf/wire-writer.ts";

/** How a key of the JSON document is written. */
type Encoding =
  | "text"
  | "texts"
  | "whole"
  | "double"
  /** Any value, as YAML. */
  | "any"
  | "anys"
  | MessageName
  | "named Schema"
  | "named PathItem"
  | "named Response"
  | "Parameters"
  | "Type"
  | "Items"
  | "AdditionalProperties";

type MessageName = "Document" | "Info" | "PathItem" | "Operation" | "QueryParameter" | "Response" | "Schema";

interface Message {
  readonly fields: Readonly<Record<string, readonly [number: number, encoding: Encoding]>>;
  /** The number of the field that holds keys beginning with `x-`. */
  readonly extensions: number;
}

/** The messages of `openapi.v2`, which kubectl reads, with the fields our document has. */
const messages: Readonly<Record<MessageName, Message>> = {
  Document: {
    fields: {
      swagger: [1, "text"],
      info: [2, "Info"],
      paths: [8, "named PathItem"],
      definitions: [9, "named Schema"],
    },
    extensions: 16,
  },
  Info: { fields: { title: [1, "text"], version: [2, "text"] }, extensions: 7 },
  PathItem: {
    fields: {
      get: [2, "Operation"],
      put: [3, "Operation"],
      post: [4, "Operation"],
      delete: [5, "Operation"],
      patch: [8, "Operation"],
    },
    extensions: 10,
  },
  Operation: {
    fields: { operationId: [5, "text"], parameters: [8, "Parameters"], responses: [9, "named Response"] },
    extensions: 13,
  },
  QueryParameter: {
    fields: {
      in: [2, "text"],
      description: [3, "text"],
      name: [4, "text"],
      type: [6, "text"],
      uniqueItems: [20, "whole"],
    },
    extensions: 23,
  },
  Response: { fields: { description: [1, "text"] }, extensions: 5 },
  Schema: {
    fields: {
      $ref: [1, "text"],
      format: [2, "text"],
      title: [3, "text"],
      description: [4, "text"],
      default: [5, "any"],
      multipleOf: [6, "double"],
      maximum: [7, "double"],
      exclusiveMaximum: [8, "whole"],
      minimum: [9, "double"],
      exclusiveMinimum: [10, "whole"],
      maxLength: [11, "whole"],
      minLength: [12, "whole"],
      pattern: [13, "text"],
      maxItems: [14, "whole"],
      minItems: [15, "whole"],
      uniqueItems: [16, "whole"],
      maxProperties: [17, "whole"],
      minProperties: [18, "whole"],
      required: [19, "texts"],
      enum: [20, "anys"],
      additionalProperties: [21, "AdditionalProperties"],
      type: [22, "Type"],
      items: [23, "Items"],
      properties: [25, "named Schema"],
      example: [30, "any"],
    },
    extensions: 31,
  },
};

/** `openapi.v2.Document`, the only form of OpenAPI v2 that kubectl asks for. */
export function encodeOpenApiV2(document: Readonly<Record<string, unknown>>): Buffer {
  return encodeMessage("Document", document);
}

function encodeMessage(name: MessageName, value: unknown): Buffer {
  const writer = new WireWriter();
  const { fields, extensions } = messages[name];
  for (const [key, inner] of Object.entries(isRecord(value) ? value : {})) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field !== undefined) writeField(writer, field, inner);
    else if (key.startsWith("x-")) writer.bytes(extensions, namedMessage(key, anyMessage(inner)));
  }
  return writer.finish();
}

function writeField(writer: WireWriter, [number, encoding]: readonly [number, Encoding], value: unknown): void {
  for (const bytes of encodedValues(encoding, value)) {
    if (typeof bytes === "number") writer.varint(number, bytes);
    else if (typeof bytes === "object" && "double" in bytes) writer.double(number, bytes.double);
    else writer.bytes(number, bytes);
  }
}

/** A whole number, a fraction, or bytes. */
type EncodedValue = number | { readonly double: number } | Buffer;

/** The values of a field: several where it is repeated. */
function encodedValues(encoding: Encoding, value: unknown): readonly EncodedValue[] {
  switch (encoding) {
    case "text":
      return [textBytes(value)];
    case "texts":
      return listOf(value).map(textBytes);
    case "whole":
      return [value === true ? 1 : Math.trunc(Number(value))];
    case "double":
      return [{ double: Number(value) }];
    case "any":
      return [anyMessage(value)];
    case "anys":
      return listOf(value).map(anyMessage);
    case "named Schema":
      return [namedMessages(1, value, (one) => encodeMessage("Schema", one))];
    case "named PathItem":
      return [namedMessages(2, value, (one) => encodeMessage("PathItem", one))];
    case "named Response":
      return [namedMessages(1, value, (one) => within(1, encodeMessage("Response", one)))];
    case "Parameters":
      return listOf(value).map(parameterMessage);
    case "Type":
      return [within(1, textBytes(value))];
    case "Items":
    case "AdditionalProperties":
      return [within(1, encodeMessage("Schema", value))];
    default:
      return [encodeMessage(encoding, value)];
  }
}

function textBytes(value: unknown): Buffer {
  return Buffer.from(String(value));
}

/** `ParametersItem` > `Parameter` > `NonBodyParameter` > `QueryParameterSubSchema`. */
function parameterMessage(parameter: unknown): Buffer {
  return within(1, within(2, within(3, encodeMessage("QueryParameter", parameter))));
}

function namedMessages(number: number, value: unknown, encode: (value: unknown) => Buffer): Buffer {
  const writer = new WireWriter();
  for (const [name, one] of Object.entries(isRecord(value) ? value : {}))
    writer.bytes(number, namedMessage(name, encode(one)));
  return writer.finish();
}

function namedMessage(name: string, value: Buffer): Buffer {
  const writer = new WireWriter();
  writer.text(1, name);
  writer.bytes(2, value);
  return writer.finish();
}

/** JSON is YAML. */
function anyMessage(value: unknown): Buffer {
  return within(2, textBytes(JSON.stringify(value)));
}

/** A message with one field. */
function within(number: number, inner: Buffer): Buffer {
  const writer = new WireWriter();
  writer.bytes(number, inner);
  return writer.finish();
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
