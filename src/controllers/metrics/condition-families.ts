import type { MetricFamily, Metrics } from "./metrics.ts";
import { doubling, type MetricRow, type MetricType, plainBuckets } from "./table.ts";

/** What is told of the conditions of a kind. */
export interface ConditionFamilies {
  readonly transitions: MetricFamily;
  readonly durations: MetricFamily;
  readonly current: MetricFamily;
  readonly currentSeconds: MetricFamily;
  readonly terminating: MetricFamily;
  readonly terminations: MetricFamily;
}

const object = ["namespace", "name"] as const;
const condition = ["type", "status"] as const;

/** `operator_nodeclaim_…` for a kind; without one the old names, that carry kind and group as labels. (03 §6.1) */
export function conditionFamilies(
  metrics: Metrics,
  { kind, extra }: { readonly kind?: string | undefined; readonly extra: readonly string[] },
): ConditionFamilies {
  const prefix = kind === undefined ? "operator_" : `operator_${kind.toLowerCase()}_`;
  const buckets = kind === undefined ? plainBuckets : doubling(0.5, 15);
  const family = (name: string, type: MetricType, row: Pick<MetricRow, "labels" | "help">): MetricFamily =>
    metrics.family({ ...row, type, buckets, name: prefix + name, labels: [...row.labels, ...extra] });
  return {
    transitions: family("status_condition_transitions_total", "counter", {
      labels: [...condition, "reason"],
      help: "Conditions that changed, by what they became.",
    }),
    durations: family("status_condition_transition_seconds", "histogram", {
      labels: condition,
      help: "How long conditions were what they no longer are.",
    }),
    current: family("status_condition_count", "gauge", {
      labels: [...object, ...condition, "reason"],
      help: "Conditions as they are; always 1.",
    }),
    currentSeconds: family("status_condition_current_status_seconds", "gauge", {
      labels: [...object, ...condition, "reason"],
      help: "How long conditions have been what they are.",
    }),
    terminating: family("termination_current_time_seconds", "gauge", {
      labels: object,
      help: "How long objects have been going.",
    }),
    terminations: family("termination_duration_seconds", "histogram", {
      labels: [],
      help: "How long objects took to go.",
    }),
  };
}
