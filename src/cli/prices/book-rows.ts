import { isRecord } from "../../api/object.ts";
import type { FieldPath, Problem } from "../../api/problem.ts";
import type { BookDiscount, BookEntries, BookPrice } from "../../core/price-book.ts";

const bookCapacityTypes = ["on-demand", "spot", "reserved"];

/** What is read from one file, and everything that is wrong with it. */
export interface ParsedBook extends BookEntries {
  /** The region the file is for, if it says so. */
  readonly region?: string | undefined;
  readonly problems: readonly Problem[];
}

/** Reads a book of our own form: `{region, prices: [...], discounts: [...]}`. */
export function parseBook(value: unknown, file: string): ParsedBook {
  const reader = new RowReader(file);
  if (!isRecord(value)) {
    const problem: Problem = { code: "type", path: [], message: "is not a price book", expected: bookForms };
    return { prices: [], discounts: [], problems: [problem] };
  }
  reader.refuseUnknownFields(value, [], ["region", "prices", "discounts"]);
  const region = reader.text(value, [], "region");
  const prices = reader.list(value, "prices").flatMap(({ row, path }) => reader.price(row, path, region) ?? []);
  const discounts = reader.list(value, "discounts").flatMap(({ row, path }) => reader.discount(row, path) ?? []);
  if (prices.length + discounts.length + reader.problems.length === 0) {
    reader.problems.push({
      code: "too-few",
      path: [],
      message: "has neither prices nor discounts",
      expected: bookForms,
    });
  }
  return { prices, discounts, region, problems: reader.problems };
}

/** What `--prices` takes. */
export const bookForms =
  "prices: [{type: m5.large, price: 0.09}] or discounts: [{percent: 10}], CSV with a line of titles, or the JSON of aws pricing get-products or aws ec2 describe-spot-price-history";

interface LocatedRow {
  readonly row: Readonly<Record<string, unknown>>;
  readonly path: FieldPath;
}

/** Reads rows of prices and discounts, and collects what is wrong with them. */
export class RowReader {
  readonly problems: Problem[] = [];
  readonly #file: string;
  readonly #seen = new Set<string>();

  constructor(file: string) {
    this.#file = file;
  }

  list(value: Readonly<Record<string, unknown>>, field: string): readonly LocatedRow[] {
    const rows = value[field] ?? [];
    if (!Array.isArray(rows)) {
      this.#refuse("type", [field], "is not a list", "a list of objects");
      return [];
    }
    return rows.flatMap((row: unknown, index) => {
      if (isRecord(row)) return [{ row, path: [field, index] }];
      this.#refuse("type", [field, index], "is not an object", "{type: m5.large, price: 0.09}");
      return [];
    });
  }

  price(row: LocatedRow["row"], path: FieldPath, region: string | undefined): BookPrice | undefined {
    const before = this.problems.length;
    this.refuseUnknownFields(row, path, ["type", "zone", "capacityType", "price"]);
    const type = this.text(row, path, "type");
    if (type === undefined) this.#require(row, path, "type", "the name of an instance type, such as m5.large");
    const zone = this.text(row, path, "zone");
    const capacityType = this.#capacityType(row, path) ?? "on-demand";
    const price = this.#number(row, path, "price", "dollars an hour, such as 0.096");
    if (price !== undefined && price <= 0) {
      this.#refuse("too-small", [...path, "price"], `${price} is not a price`, "dollars an hour, more than 0");
    }
    if (type === undefined || price === undefined || this.problems.length > before) return undefined;
    this.#refuseTwice([type, zone, capacityType].join(" "), path);
    return { type, zone, capacityType, price, region, source: { kind: "price-book", file: this.#file } };
  }

  discount(row: LocatedRow["row"], path: FieldPath): BookDiscount | undefined {
    const before = this.problems.length;
    this.refuseUnknownFields(row, path, ["type", "family", "capacityType", "percent"]);
    const [type, family] = [this.text(row, path, "type"), this.text(row, path, "family")];
    if (type !== undefined && family !== undefined) {
      this.#refuse("invalid-value", path, "names a type and a family", "one of them, or neither for all types");
    }
    const capacityType = this.#capacityType(row, path);
    const percent = this.#number(row, path, "percent", "a percentage, such as 20");
    if (percent !== undefined && (percent < 0 || percent >= 100)) {
      this.#refuse("invalid-value", [...path, "percent"], `${percent} is not a discount`, "0 to 100, without 100");
    }
    if (percent === undefined || this.problems.length > before) return undefined;
    this.#refuseTwice(["discount", type, family, capacityType].join(" "), path);
    return { type, family, capacityType, percent, file: this.#file };
  }

  text(row: LocatedRow["row"], path: FieldPath, field: string): string | undefined {
    const value = row[field];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    this.#refuse("type", [...path, field], "is not a string", "a string");
    return undefined;
  }

  refuseUnknownFields(row: LocatedRow["row"], path: FieldPath, known: readonly string[]): void {
    for (const field of Object.keys(row)) {
      if (!known.includes(field)) this.#refuse("unknown-field", [...path, field], "is not a field", known.join(", "));
    }
  }

  #capacityType(row: LocatedRow["row"], path: FieldPath): string | undefined {
    const value = this.text(row, path, "capacityType");
    if (value === undefined || bookCapacityTypes.includes(value)) return value;
    const message = `${JSON.stringify(value.slice(0, 80))} is not a capacity type`;
    this.#refuse("enum", [...path, "capacityType"], message, bookCapacityTypes.join(", "));
    return undefined;
  }

  /** Also `"$0.09"` and `"20%"`, as spreadsheets have them. */
  #number(row: LocatedRow["row"], path: FieldPath, field: string, expected: string): number | undefined {
    const value = row[field];
    if (value === undefined || value === null || value === "") return this.#require(row, path, field, expected);
    const text = String(value).trim();
    const number = Number(text.replace(/^\$|%$/g, ""));
    if (/^[$]?[-+]?[\d.]/.test(text) && Number.isFinite(number)) return number;
    this.#refuse("type", [...path, field], `${JSON.stringify(text.slice(0, 80))} is not a number`, expected);
    return undefined;
  }

  #require(row: LocatedRow["row"], path: FieldPath, field: string, expected: string): undefined {
    if (row[field] === undefined || row[field] === null || row[field] === "")
      this.#refuse("required", [...path, field], "is missing", expected);
    return undefined;
  }

  #refuseTwice(key: string, path: FieldPath): void {
    if (this.#seen.has(key)) this.#refuse("duplicate-item", path, "is written twice", "one line for each");
    this.#seen.add(key);
  }

  #refuse(code: Problem["code"], path: FieldPath, message: string, expected: string): void {
    this.problems.push({ code, path, message, expected });
  }
}
