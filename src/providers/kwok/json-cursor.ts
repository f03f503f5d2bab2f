import { schemaPatterns } from "../../api/kinds/patterns.ts";
import { isRecord } from "../../api/object.ts";
import type { FieldPath, Problem } from "../../api/problem.ts";
import { Quantity } from "../../util/quantity.ts";

const labelValue = new RegExp(schemaPatterns.labelValue);
const qualifiedName = new RegExp(schemaPatterns.qualifiedName);
const maxLabelValue = 63;
const maxKey = 316;

/**
 * A place in untyped JSON. Asking it for a type either answers, or notes a problem and answers undefined: so one pass
 * finds all there is to complain about.
 */
export class JsonCursor {
  readonly value: unknown;
  readonly path: FieldPath;
  /** Shared by all cursors into one document. */
  readonly problems: Problem[];

  private constructor(value: unknown, path: FieldPath, problems: Problem[]) {
    this.value = value;
    this.path = path;
    this.problems = problems;
  }

  static root(value: unknown): JsonCursor {
    return new JsonCursor(value, [], []);
  }

  note(problem: Omit<Problem, "path">): undefined {
    this.problems.push({ ...problem, path: this.path });
    return undefined;
  }

  /** A field, matched as Go's JSON does: as spelled, else whatever the case. */
  field(name: string): JsonCursor {
    const record = isRecord(this.value) ? this.value : {};
    const spelling = Object.hasOwn(record, name) ? name : Object.keys(record).find(equalsIgnoringCase(name));
    return new JsonCursor(spelling === undefined ? undefined : record[spelling], [...this.path, name], this.problems);
  }

  /** Go writes null for what is not there. */
  get isMissing(): boolean {
    return this.value === undefined || this.value === null;
  }

  isRecord(): boolean {
    if (!isRecord(this.value)) this.mistyped("an object");
    return isRecord(this.value);
  }

  fields(): ReadonlyMap<string, JsonCursor> {
    const names = isRecord(this.value) ? Object.keys(this.value) : [];
    return new Map(names.map((name) => [name, this.field(name)]));
  }

  items(): readonly JsonCursor[] | undefined {
    if (!Array.isArray(this.value)) return this.mistyped("a list");
    return this.value.map((one: unknown, index) => new JsonCursor(one, [...this.path, index], this.problems));
  }

  /** A price or a count. */
  amount(): number | undefined {
    const { value } = this;
    if (typeof value !== "number") return this.mistyped("a number");
    if (Number.isFinite(value) && value >= 0) return value;
    return this.note({
      code: "too-small",
      message: `${value} is no amount`,
      expected: "a finite number, not negative",
    });
  }

  count(): number | undefined {
    const value = this.amount();
    if (value === undefined || Number.isSafeInteger(value)) return value;
    return this.note({ code: "type", message: `${value} is not a whole number`, expected: "a whole number" });
  }

  text(): string | undefined {
    return typeof this.value === "string" ? this.value : this.mistyped("a string");
  }

  labelValue(): string | undefined {
    const text = this.text();
    if (text === undefined || (text.length <= maxLabelValue && labelValue.test(text))) return text;
    const expected = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
    return this.note({ code: "invalid-value", message: `${quotedExcerpt(text)} is not a label value`, expected });
  }

  /** A label value that says something. */
  name(): string | undefined {
    if (this.value !== "") return this.labelValue();
    return this.note({ code: "too-short", message: "may not be empty" });
  }

  key(): string | undefined {
    const text = this.text();
    return text === undefined || isKey(text) ? text : this.noKey(text);
  }

  /** Whether the name this field stands under is a qualified name. */
  hasKeyForName(): boolean {
    const name = String(this.path.at(-1));
    if (!isKey(name)) this.noKey(name);
    return isKey(name);
  }

  quantity(): Quantity | undefined {
    const { value } = this;
    if (typeof value !== "string" && typeof value !== "number") return this.mistyped("a quantity");
    const quantity = Quantity.tryParse(value);
    if (quantity === undefined) {
      return this.note({
        code: "format",
        message: `${quotedExcerpt(value)} is not a quantity`,
        expected: "like 500m or 16Gi",
      });
    }
    if (quantity.sign() >= 0) return quantity;
    return this.note({ code: "too-small", message: `${quotedExcerpt(value)} is negative`, expected: "zero or more" });
  }

  private noKey(text: string): undefined {
    return this.note({
      code: "invalid-key",
      message: `${quotedExcerpt(text)} is no qualified name`,
      expected: "example.com/name",
    });
  }

  private mistyped(expected: string): undefined {
    if (this.isMissing) return this.note({ code: "required", message: "is missing", expected });
    return this.note({ code: "type", message: `is ${kindOf(this.value)}`, expected });
  }
}

/** Foreign text in a message stays short. */
export function quotedExcerpt(value: string | number): string {
  return JSON.stringify(String(value).slice(0, 80));
}

function equalsIgnoringCase(name: string): (other: string) => boolean {
  return (other) => other.toLowerCase() === name.toLowerCase();
}

function isKey(text: string): boolean {
  return text.length <= maxKey && qualifiedName.test(text);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
