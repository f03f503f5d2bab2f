import { clusterPrinters } from "./cluster-printers.ts";
import { podPrinter } from "./pod-printer.ts";
import { storagePrinters } from "./storage-printers.ts";
import { storedPrinters } from "./stored-only-printers.ts";
import { ageColumn, nameColumn, type Printer } from "./table-column.ts";
import { workloadPrinters } from "./workload-printers.ts";

const printers: Readonly<Record<string, Printer>> = {
  "/Pod": podPrinter,
  ...workloadPrinters,
  ...clusterPrinters,
  ...storagePrinters,
  ...storedPrinters,
};

const fallback: Printer = { columns: [nameColumn, ageColumn] };

/** The columns of a built-in kind; name and age, if nothing else is defined. (05 §3) */
export function builtInPrinter({ group, kind }: { readonly group: string; readonly kind: string }): Printer {
  // Events of both groups are stored in the core form.
  const key = kind === "Event" ? "/Event" : `${group}/${kind}`;
  return Object.hasOwn(printers, key) ? (printers[key] ?? fallback) : fallback;
}
