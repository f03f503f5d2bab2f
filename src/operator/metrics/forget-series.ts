import type { Metric } from "prom-client";

type LabelSet = Readonly<Record<string, string>>;

/** Fields of prom-client that its types do not declare. */
interface Stored {
  readonly labelNames: readonly string[];
  readonly hashMap: Readonly<Record<string, { readonly labels: LabelSet }>>;
  remove(labels: LabelSet): void;
}

/** Removes the series that have these labels, whatever their other labels. */
export function forgetSeries(metric: Metric<string>, labels: Readonly<Record<string, string | undefined>>): void {
  const stored = metric as unknown as Stored;
  const wanted = Object.entries(labels);
  const isOne = wanted.length === stored.labelNames.length;
  const known = isOne ? [{ labels: labels as LabelSet }] : Object.values(stored.hashMap);
  for (const series of known) {
    if (wanted.every(([name, value]) => series.labels[name] === value)) stored.remove(series.labels);
  }
}

export function hasLabel(metric: Metric<string>, label: string): boolean {
  return (metric as unknown as Stored).labelNames.includes(label);
}
