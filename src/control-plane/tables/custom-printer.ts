import type { KubeObject } from "../../api/object.ts";
import type { CustomResourceColumn } from "../kinds/served-kind.ts";
import { ageOf } from "./age.ts";
import { parseJsonPath } from "./json-path.ts";
import { ageColumn, nameColumn, type Printer, type TableCell, type TableColumnDefinition } from "./table-column.ts";

/** The columns of a custom kind: its name, then the columns of its CRD, or else the age. */
export function customPrinter(columns: readonly CustomResourceColumn[]): Printer {
  return { columns: [nameColumn, ...(columns.length === 0 ? [ageColumn] : columns.map(customColumn))] };
}

function customColumn(declared: CustomResourceColumn): TableColumnDefinition {
  const path = parseJsonPath(declared.jsonPath);
  const find = (object: KubeObject) => path?.find(object) ?? [];
  return {
    name: declared.name,
    type: declared.type as TableColumnDefinition["type"],
    format: declared.format ?? "",
    priority: declared.priority ?? 0,
    description: declared.description ?? "",
    cell: (object, now) => cellOf(find(object), { type: declared.type, now }),
  };
}

/** The first value at the path; empty if there is none or it is of another type. */
function cellOf(found: readonly unknown[], { type, now }: { readonly type: string; readonly now: number }): TableCell {
  const [first] = found;
  if (first === undefined || first === null) return null;
  switch (type) {
    case "integer":
      return typeof first === "number" ? Math.trunc(first) : null;
    case "number":
      return typeof first === "number" ? first : null;
    case "boolean":
      return typeof first === "boolean" ? first : null;
    case "date":
      return typeof first === "string" ? dateCell(first, now) : null;
    default:
      return typeof first === "object" ? JSON.stringify(first) : String(first);
  }
}

function dateCell(timestamp: string, now: number): string {
  return Number.isNaN(Date.parse(timestamp)) ? "<invalid>" : ageOf(timestamp, now);
}
