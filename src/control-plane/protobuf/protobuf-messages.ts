import { type BuiltInFields, builtInDefinition, type WireField } from "../../api/kubernetes/built-in-fields.ts";

/** A message by field number; a map is an inlined message, whose fields belong to the parent's JSON object. */
export type ProtobufMessage = ReadonlyMap<number, WireField | ProtobufMessage>;

/** The messages a client may send, made from the field table on first use: a request needs a few of them. */
export class ProtobufMessages {
  readonly #fields: BuiltInFields;
  readonly #messages = new Map<string, ProtobufMessage>();

  constructor(fields: BuiltInFields) {
    this.#fields = fields;
  }

  /** Undefined if the kind is not in the table. Kinds of the meta package come in every group. */
  ofKind(apiVersion: string, kind: string): ProtobufMessage | undefined {
    const [version = "", group = ""] = apiVersion.split("/").reverse();
    const names = [builtInDefinition({ group, version, kind }), `meta.v1.${kind}`];
    const name = names.find((one) => this.#fields.has(one));
    return name === undefined ? undefined : this.ofDefinition(name);
  }

  ofDefinition(name: string): ProtobufMessage {
    const known = this.#messages.get(name);
    if (known !== undefined) return known;
    const message = byNumber(this.#fields.wireFields(name));
    this.#messages.set(name, message);
    return message;
  }
}

type MutableMessage = Map<number, WireField | MutableMessage>;

function byNumber(fields: readonly WireField[]): ProtobufMessage {
  const message: MutableMessage = new Map();
  for (const field of fields) inlinedMessage(message, field.path.slice(0, -1)).set(field.path.at(-1) ?? 0, field);
  return message;
}

/** The message a path of inlined messages leads to, created on the way. */
function inlinedMessage(message: MutableMessage, path: readonly number[]): MutableMessage {
  return path.reduce((parent, number) => {
    const known = parent.get(number);
    if (known instanceof Map) return known;
    const made: MutableMessage = new Map();
    parent.set(number, made);
    return made;
  }, message);
}
