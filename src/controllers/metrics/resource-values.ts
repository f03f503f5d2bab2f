import type { ResourceList } from "../../api/kubernetes/pod.ts";
import { resources as wireNames } from "../../api/labels.ts";
import type { Resources } from "../../core/resources.ts";
import { Quantity } from "../../util/quantity.ts";

/** `ephemeral-storage` as metrics write it. */
export function resourceTypeLabel(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** Cores for cpu, whole base units for everything else. */
export function metricValueOf(name: string, quantity: Quantity): number {
  return name === wireNames.cpu ? Number(quantity.milliValue()) / 1_000 : Number(quantity.value());
}

/** The entries that parse; metrics leave out the others. */
export function readableQuantities(list: ResourceList | undefined): Resources {
  const read = Object.entries(list ?? {}).map(([name, written]) => [name, Quantity.tryParse(written)] as const);
  return Object.fromEntries(read.filter((entry): entry is [string, Quantity] => entry[1] !== undefined));
}
