import { defaultBuckets, exponentialBuckets, type MetricRow, type MetricType } from "./metric-table.ts";
import type { MetricFamily, Metrics } from "./metrics.ts";

/** The metrics of a kind's conditions. */
export interface ConditionMetricFamilies {
  readonly transitions: MetricFamily;
  readonly durations: MetricFamily;
  readonly current: MetricFamily;
  readonly currentSeconds: MetricFamily;
  readonly terminating: MetricFamily;
  readonly terminations: MetricFamily;
}

const objectLabels = ["namespace", "name"] as const;
const conditionLabels = ["type", "status"] as const;

/** `operator_nodeclaim_…` for a kind; without a kind the deprecated names, which have kind and group as labels. (03 §6.1) */
export function conditionMetricFamilies(
  metrics: Metrics,
  { kind, extra }: { readonly kind?: string | undefined; readonly extra: readonly string[] },
): ConditionMetricFamilies {
  const prefix = kind === undefined ? "operator_" : `operator_${kind.toLowerCase()}_`;
  const buckets = kind === undefined ? defaultBuckets : exponentialBuckets(0.5, 15);
  const family = (name: string, type: MetricType, row: Pick<MetricRow, "labels" | "help">): MetricFamily =>
    metrics.family({ ...row, type, buckets, name: prefix + name, labels: [...row.labels, ...extra] });
  return {
    transitions: family("status_condition_transitions_total", "counter", {
      labels: [...conditionLabels, "reason"],
      help: "Condition transitions, by new status.",
    }),
    durations: family("status_condition_transition_seconds", "histogram", {
      labels: conditionLabels,
      help: "How long conditions had their previous status.",
    }),
    current: family("status_condition_count", "gauge", {
      labels: [...objectLabels, ...conditionLabels, "reason"],
      help: "Current conditions; always 1.",
    }),
    currentSeconds: family("status_condition_current_status_seconds", "gauge", {
      labels: [...objectLabels, ...conditionLabels, "reason"],
      help: "How long conditions have had their current status.",
    }),
    terminating: family("termination_current_time_seconds", "gauge", {
      labels: objectLabels,
      help: "How long objects have been terminating.",
    }),
    terminations: family("termination_duration_seconds", "histogram", {
      labels: [],
      help: "How long objects took to terminate.",
    }),
  };
}
