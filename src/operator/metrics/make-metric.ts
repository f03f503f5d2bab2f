import { Counter, Histogram, type Registry, Summary } from "prom-client";
import { defaultBuckets, type MetricRow, summaryQuantiles } from "../../controllers/metrics/metric-table.ts";
import type { MetricFamily } from "../../controllers/metrics/metrics.ts";
import { LiveGauge } from "./live-gauge.ts";

/** As in Go's client library: observations count for ten minutes. */
const summaryWindow = { maxAgeSeconds: 600, ageBuckets: 5 };

/** Registers the metric of a row. */
export function makeMetric(registry: Registry, name: string, row: MetricRow): MetricFamily {
  const { labels: labelNames, help } = row;
  const common = { name, help, labelNames, registers: [registry] };
  switch (row.type) {
    case "counter": {
      const counter = new Counter(common);
      return {
        ...notCollectable,
        record: (labels, by) => counter.inc(labels, by),
        forget: (one) => counter.remove(one),
      };
    }
    case "histogram": {
      const histogram = new Histogram({ ...common, buckets: [...(row.buckets ?? defaultBuckets)] });
      return { ...notCollectable, record: (labels, value) => histogram.observe(labels, value), forget: ignore };
    }
    case "summary": {
      const summary = new Summary({ ...common, ...summaryWindow, percentiles: [...summaryQuantiles] });
      return { ...notCollectable, record: (labels, value) => summary.observe(labels, value), forget: ignore };
    }
    case "gauge": {
      const gauge = new LiveGauge(common);
      return {
        record: (labels, value) => gauge.set(labels, value),
        forget: (labels) => gauge.forget(labels),
        collect: (series) => gauge.collectFrom(series),
      };
    }
  }
}

const ignore = (): void => {};

const notCollectable: Pick<MetricFamily, "collect"> = {
  collect: () => {
    throw new Error("only gauges support collect");
  },
};
