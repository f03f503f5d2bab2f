import { type Metric, Registry } from "prom-client";
import { metricTable } from "../../controllers/metrics/metric-table.ts";
import type { MetricFamily, Metrics } from "../../controllers/metrics/metrics.ts";
import { forgetSeries, hasLabel } from "./forget-series.ts";
import { makeMetric } from "./make-metric.ts";

const prefix = "karpenter_";

/** The labels of `build_info`. */
export interface BuildInfo {
  readonly version: string;
  readonly commit: string;
  /** The version of Node, under upstream's label `goversion`. */
  readonly runtime: string;
  readonly arch: string;
}

export interface PromMetrics {
  readonly metrics: Metrics;
  readonly registry: Registry;
}

/** The metrics of controllers, for Prometheus. (03 §6.1) */
export function promMetrics({ build }: { readonly build?: BuildInfo | undefined } = {}): PromMetrics {
  const registry = new Registry();
  const families = new Map<string, MetricFamily>();
  for (const [name, row] of Object.entries(metricTable)) families.set(name, makeMetric(registry, prefix + name, row));
  const of = (name: string): MetricFamily => {
    const family = families.get(name);
    if (family === undefined) throw new Error(`no metric ${name}`);
    return family;
  };
  const metrics: Metrics = {
    count: (name, labels, by = 1) => of(name).record(labels, by),
    set: (name, labels, value) => of(name).record(labels, value),
    observe: (name, labels, value) => of(name).record(labels, value),
    forget: (name, labels) => of(name).forget(labels as Readonly<Record<string, string>>),
    forgetLabel: (label, value) => {
      for (const name of registry.getMetricsAsArray().map(({ name }) => name)) {
        const metric = registry.getSingleMetric(name) as Metric<string>;
        if (hasLabel(metric, label)) forgetSeries(metric, { [label]: value });
      }
    },
    collect: (name, series) => of(name).collect(series),
    family: (row) => {
      const known = families.get(row.name);
      if (known !== undefined) return known; // a controller may be started more than once
      const made = makeMetric(registry, row.name, row);
      families.set(row.name, made);
      return made;
    },
  };
  if (build !== undefined) {
    const { version, commit, runtime, arch } = build;
    metrics.set("build_info", { version, commit, goversion: runtime, goarch: arch }, 1);
  }
  return { metrics, registry };
}
