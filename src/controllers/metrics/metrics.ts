import type { MetricName, MetricRow, MetricType, metricTable } from "./metric-table.ts";

/** The metrics of a type. */
type MetricNamesOf<Type extends MetricType> = {
  [Name in MetricName]: (typeof metricTable)[Name]["type"] extends Type ? Name : never;
}[MetricName];

export type MetricLabelsOf<Name extends MetricName> =
  (typeof metricTable)[Name] extends MetricRow<MetricType, infer Label> ? Readonly<Record<Label, string>> : never;

/** Where controllers report their metrics. Every label of the table is given, empty where it does not apply. */
export interface Metrics {
  count<Name extends MetricNamesOf<"counter">>(name: Name, labels: MetricLabelsOf<Name>, by?: number): void;
  set<Name extends MetricNamesOf<"gauge">>(name: Name, labels: MetricLabelsOf<Name>, value: number): void;
  observe<Name extends MetricNamesOf<"histogram" | "summary">>(
    name: Name,
    labels: MetricLabelsOf<Name>,
    value: number,
  ): void;
  /** Removes the gauge's series with these labels. */
  forget<Name extends MetricNamesOf<"gauge">>(name: Name, labels: Partial<MetricLabelsOf<Name>>): void;
  /** Removes all series of all metrics whose label has this value. */
  forgetLabel(label: string, value: string): void;
  /** Computes a gauge's series when it is read. Returns how to stop. */
  collect<Name extends MetricNamesOf<"gauge">>(name: Name, series: MetricCollector<MetricLabelsOf<Name>>): () => void;
  /** A gauge whose labels are not known beforehand: those of nodes and of condition status. Full name, with prefix. */
  family(row: MetricFamilyRow): MetricFamily;
}

/** One series of a metric. */
export interface MetricSeries<Labels extends Readonly<Record<string, string>> = Readonly<Record<string, string>>> {
  readonly labels: Labels;
  readonly value: number;
}

/**
 * The series of a gauge at this moment. Computed on read, so they cost no memory, are never stale, and disappear with
 * their objects.
 */
export type MetricCollector<Labels extends Readonly<Record<string, string>> = Readonly<Record<string, string>>> =
  () => Iterable<MetricSeries<Labels>>;

/** A metric that is defined at run time. */
export interface MetricFamilyRow extends MetricRow {
  readonly name: string;
}

export interface MetricFamily {
  /** Gauge: sets; counter: adds; histogram and summary: observes. */
  record(labels: Readonly<Record<string, string>>, value: number): void;
  forget(labels: Readonly<Record<string, string>>): void;
  /** Of a gauge: as `Metrics.collect`. */
  collect(series: MetricCollector): () => void;
}

/** Counts nothing: for the sandbox and for tests. */
export const noMetrics: Metrics = {
  count: () => {},
  set: () => {},
  observe: () => {},
  forget: () => {},
  forgetLabel: () => {},
  collect: () => () => {},
  family: () => ({ record: () => {}, forget: () => {}, collect: () => () => {} }),
};
