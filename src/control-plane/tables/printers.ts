import { clusterPrinters } from "./cluster.ts";
import { ageColumn, nameColumn, type Printer } from "./column.ts";
import { podPrinter } from "./pod.ts";
import { storagePrinters } from "./storage.ts";
import { storedPrinters } from "./stored.ts";
import { workloadPrinters } from "./workloads.ts";

const printers: Readonly<Record<string, Printer>> = {
  "/Pod": podPrinter,
  ...workloadPrinters,
  ...clusterPrinters,
  ...storagePrinters,
  ...storedPrinters,
};

const fallback: Printer = { columns: [nameColumn, ageColumn] };

/** How the objects of a built-in kind look in a table: a name and an age when nothing better is known. (05 §3) */
export function builtinPrinter({ group, kind }: { readonly group: string; readonly kind: string }): Printer {
  // Both Event kinds are one: what is stored is the core form.
  const key = kind === "Event" ? "/Event" : `${group}/${kind}`;
  return Object.hasOwn(printers, key) ? (printers[key] ?? fallback) : fallback;
}
