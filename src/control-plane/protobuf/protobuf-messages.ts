import { kindRows, messageRows } from "./messages-data.ts";

/**
 * Wire type of a field: `s` string, `y` bytes, `b` bool, `i` integer, `d` double; messages whose JSON is not an object:
 * `T` time, `U` time with microseconds, `D` duration, `Q` quantity, `O` number or string, `R` JSON text, `L` list of
 * strings; a number is the row of another message.
 */
export type FieldTypeCode = "s" | "y" | "b" | "i" | "d" | "T" | "U" | "D" | "Q" | "O" | "R" | "L" | number;

export interface MessageField {
  readonly name: string;
  readonly type: FieldTypeCode;
  readonly shape: "one" | "list" | "map";
  /** The fields of the message are inlined into the parent. */
  readonly inline: boolean;
  /** Keep a zero value: in Go the field is not a pointer or has no omitempty. */
  readonly keepZero: boolean;
}

export type ProtobufMessage = ReadonlyMap<number, MessageField>;

/** The messages a client may send. Rows are parsed on first use: a request needs a few of the 480. */
export class ProtobufMessages {
  readonly #kinds = new Map<string, number>();
  readonly #messages = new Map<number, ProtobufMessage>();

  constructor() {
    for (const row of kindRows) {
      const [apiVersion = "", kind = "", index] = row.split(" ");
      this.#kinds.set(`${apiVersion} ${kind}`, Number(index));
    }
  }

  /** Undefined if the kind is not in the table. */
  ofKind(apiVersion: string, kind: string): ProtobufMessage | undefined {
    const index = this.#kinds.get(`${apiVersion} ${kind}`) ?? this.#kinds.get(`* ${kind}`);
    return index === undefined ? undefined : this.at(index);
  }

  at(index: number): ProtobufMessage {
    const known = this.#messages.get(index);
    if (known !== undefined) return known;
    const message = parseRow(messageRows[index] ?? "");
    this.#messages.set(index, message);
    return message;
  }
}

function parseRow(row: string): ProtobufMessage {
  const fields = row === "" ? [] : row.split(",");
  return new Map(
    fields.map((field) => {
      const [number = "", name = "", written = ""] = field.split(" ");
      const code = written.replace(/^[*%]/, "").replace(/[!^]+$/, "");
      return [
        Number(number),
        {
          name,
          type: (/^\d/.test(code) ? Number(code) : code) as FieldTypeCode,
          shape: written.startsWith("*") ? "list" : written.startsWith("%") ? "map" : "one",
          inline: written.includes("^"),
          keepZero: written.endsWith("!"),
        } as const,
      ];
    }),
  );
}
