import type { KubeObject } from "../../api/object.ts";
import { fieldAt } from "../object-fields.ts";
import { ageOf } from "./age.ts";

export type TableCell = string | number | boolean | null;

/** The cell of an object, at a time in milliseconds since the epoch. */
export type CellFunction = (object: KubeObject, now: number) => TableCell;

export interface TableColumnDefinition {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format: string;
  /** Zero: always shown; greater: with `-o wide`. */
  readonly priority: number;
  readonly description: string;
  readonly cell: CellFunction;
}

/** How objects of a kind are shown in a table. */
export interface Printer {
  readonly columns: readonly TableColumnDefinition[];
  /** Marks rows of finished objects. */
  readonly conditions?: (object: KubeObject) => readonly RowCondition[];
}

/** The columns of kinds, by `group/kind`. */
export type KindColumns = Readonly<Record<string, readonly TableColumnDefinition[]>>;

export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True";
  readonly reason: string;
  readonly message: string;
}

export function column(
  name: string,
  cell: CellFunction,
  { type = "string" }: { type?: TableColumnDefinition["type"] } = {},
): TableColumnDefinition {
  return { name, cell, ...columnDefaults, type };
}

/** Only shown with `-o wide`. */
export function wideColumn(name: string, cell: CellFunction): TableColumnDefinition {
  return { name, cell, ...columnDefaults, priority: 1 };
}

export function integerColumn(name: string, cell: CellFunction): TableColumnDefinition {
  return column(name, cell, { type: "integer" });
}

const columnDefaults = { type: "string", format: "", priority: 0, description: "" } as const;

export const nameColumn: TableColumnDefinition = {
  ...column("Name", (object) => object.metadata.name ?? ""),
  format: "name",
  description: "Name of the object, unique in its namespace.",
};

export const ageColumn: TableColumnDefinition = {
  ...column("Age", (object, now) => ageOf(fieldAt(object, "metadata", "creationTimestamp"), now)),
  description: "How long ago the object was created.",
};
