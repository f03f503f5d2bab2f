import { type MetricSeries, type Metrics, noMetrics } from "../../src/controllers/metrics/metrics.ts";

/** Counters and gauges a test can read, by `name{a="b"}`. */
export interface RecordingMetrics extends Metrics {
  readonly series: ReadonlyMap<string, number>;
  /** Gauges that are computed when they are read. */
  collected(): ReadonlyMap<string, number>;
}

export function recordingMetrics(): RecordingMetrics {
  const series = new Map<string, number>();
  const collectors = new Map<() => Iterable<MetricSeries>, string>();
  return {
    ...noMetrics,
    series,
    collect: (name, collector) => {
      const own = () => collector();
      collectors.set(own, name);
      return () => collectors.delete(own);
    },
    collected: () => {
      const found = [...collectors].flatMap(([collector, name]) =>
        [...collector()].map(({ labels, value }) => [keyOf(name, labels), value] as const),
      );
      return new Map(found);
    },
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
