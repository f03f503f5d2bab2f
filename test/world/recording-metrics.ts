import { type Metrics, noMetrics } from "../../src/controllers/metrics/metrics.ts";

/** Counters and gauges a test can read, by `name{a="b"}`. */
export function recordingMetrics(): Metrics & { readonly series: ReadonlyMap<string, number> } {
  const series = new Map<string, number>();
  return {
    ...noMetrics,
    series,
    count: (name, labels, by = 1) => {
      const key = keyOf(name, labels);
      series.set(key, (series.get(key) ?? 0) + by);
    },
    set: (name, labels, value) => void series.set(keyOf(name, labels), value),
    forget: (name, labels) => {
      const parts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      for (const key of [...series.keys()]) {
        if (key.startsWith(`${name}{`) && parts.every((part) => key.includes(part))) series.delete(key);
      }
    },
  };
}

function keyOf(name: string, labels: Readonly<Record<string, unknown>>): string {
  const parts = Object.keys(labels)
    .sort()
    .map((label) => `${label}="${String(labels[label])}"`);
  return `${name}{${parts.join(",")}}`;
}
