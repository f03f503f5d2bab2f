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

/** How the objects of a built-in kind look in a table: a name and an age when nothing better is known. (05 §3) */
export function builtInPrinter({ group, kind }: { readonly group: string; readonly kind: string }): Printer {
  // Both Event kinds are one: what is stored is the core form.
  const key = kind === "Event" ? "/Event" : `${group}/${kind}`;
  return Object.hasOwn(printers, key) ? (printers[key] ?? fallback) : fallback;
}
