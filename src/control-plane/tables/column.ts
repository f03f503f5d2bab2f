import type { KubeObject } from "../../api/object.ts";
import { ageOf } from "./age.ts";
import { at } from "./read.ts";

export type Cell = string | number | boolean | null;

/** What a column shows of an object, at a time in milliseconds since the epoch. */
export type ShowCell = (object: KubeObject, now: number) => Cell;

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format: string;
  /** Zero: always shown; above: with `-o wide`. */
  readonly priority: number;
  readonly description: string;
  readonly cell: ShowCell;
}

/** How objects of a kind look in a table. */
export interface Printer {
  readonly columns: readonly Column[];
  /** Marks rows of things that are over. */
  readonly conditions?: (object: KubeObject) => readonly RowCondition[];
}

export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True";
  readonly reason: string;
  readonly message: string;
}

type Partial = Pick<Column, "type" | "format" | "priority" | "description">;

export function column(name: string, cell: ShowCell, { type = "string" }: { type?: Column["type"] } = {}): Column {
  return { name, cell, ...plain, type };
}

/** Shown with `-o wide` alone. */
export function wide(name: string, cell: ShowCell): Column {
  return { name, cell, ...plain, priority: 1 };
}

export function count(name: string, cell: ShowCell): Column {
  return column(name, cell, { type: "integer" });
}

const plain: Partial = { type: "string", format: "", priority: 0, description: "" };

export const nameColumn: Column = {
  ...column("Name", (object) => object.metadata.name ?? ""),
  format: "name",
  description: "What the object is called; unique in its namespace.",
};

export const ageColumn: Column = {
  ...column("Age", (object, now) => ageOf(at(object, "metadata", "creationTimestamp"), now)),
  description: "How long ago the object was created.",
};
