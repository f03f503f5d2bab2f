import { clusterColumns } from "./cluster-columns.ts";
import { podPrinter } from "./pod-printer.ts";
import { storageColumns } from "./storage-columns.ts";
import { storedColumns } from "./stored-only-columns.ts";
import { ageColumn, type KindColumns, nameColumn, type Printer } from "./table-column.ts";
import { workloadColumns } from "./workload-columns.ts";

const kindColumns: KindColumns = { ...workloadColumns, ...clusterColumns, ...storageColumns, ...storedColumns };

/** The columns of a built-in kind; name and age, if nothing else is defined. (05 §3) */
export function builtInPrinter({ group, kind }: { readonly group: string; readonly kind: string }): Printer {
  // Events of both groups are stored in the core form.
  const key = kind === "Event" ? "/Event" : `${group}/${kind}`;
  if (key === "/Pod") return podPrinter;
  const columns = Object.hasOwn(kindColumns, key) ? kindColumns[key] : undefined;
  return { columns: columns ?? [nameColumn, ageColumn] };
}
