import type { KubeObject } from "../../api/object.ts";
import type { Printer } from "./table-column.ts";

/** How much of the object each row contains. */
export const includeObjectModes = ["None", "Metadata", "Object"] as const;
export type IncludeObject = (typeof includeObjectModes)[number];

export interface KubeTableOptions {
  readonly printer: Printer;
  readonly includeObject: IncludeObject;
  /** Milliseconds since the epoch, to compute ages. */
  readonly now: number;
  /** The version of the Table the client asked for. */
  readonly apiVersion: string;
  /** Only the first Table of a stream has column definitions. */
  readonly withHeader: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Objects as a `Table`, which `kubectl get` prints. */
export function tableOf(objects: readonly KubeObject[], options: KubeTableOptions): Readonly<Record<string, unknown>> {
  const { printer, now, apiVersion, withHeader, metadata } = options;
  const columnDefinitions = withHeader
    ? printer.columns.map(({ name, type, format, description, priority }) => ({
        name,
        type,
        format,
        description,
        priority,
      }))
    : null;
  const rows = objects.map((object) => {
    const conditions = printer.conditions?.(object) ?? [];
    return {
      cells: printer.columns.map((column) => column.cell(object, now)),
      ...(conditions.length > 0 && { conditions }),
      ...rowObject(object, options),
    };
  });
  return { kind: "Table", apiVersion, metadata, columnDefinitions, rows };
}

function rowObject(object: KubeObject, { includeObject, apiVersion }: KubeTableOptions): { readonly object?: unknown } {
  switch (includeObject) {
    case "None":
      return {};
    case "Metadata":
      return { object: { kind: "PartialObjectMetadata", apiVersion, metadata: object.metadata } };
    case "Object":
      return { object };
  }
}
