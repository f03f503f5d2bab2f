import type { Registry } from "prom-client";
import {
  counterRow,
  durationBuckets,
  gaugeRow,
  histogramRow,
  type MetricRow,
} from "../../controllers/metrics/metric-table.ts";
import type { RequestOutcome } from "../../kube/http-client.ts";
import type { ReconcileOutcome, ReconcilerObserver } from "../../kube/reconciler.ts";
import { makeMetric } from "./make-metric.ts";

const reconcileBuckets = durationBuckets.filter((seconds) => seconds <= 60);
/** `1e-08 .. 1000`, as client-go has them. */
const queueBuckets = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));
const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const queueLabels = ["name", "controller"] as const;

/** Metrics of controller-runtime and client-go that dashboards use. They do not have our prefix. (03 §6.1) */
const frameworkMetricTable = {
  controller_runtime_reconcile_total: counterRow(["controller", "result"], "Reconciles, by result."),
  controller_runtime_reconcile_errors_total: counterRow(["controller"], "Failed reconciles."),
  controller_runtime_reconcile_time_seconds: histogramRow(
    ["controller"],
    "How long reconciles took.",
    reconcileBuckets,
  ),
  controller_runtime_active_workers: gaugeRow(["controller"], "Running reconciles."),
  controller_runtime_max_concurrent_reconciles: gaugeRow(["controller"], "Maximum number of concurrent reconciles."),
  workqueue_depth: gaugeRow(queueLabels, "Keys in the queue."),
  workqueue_adds_total: counterRow(queueLabels, "Keys added to the queue."),
  workqueue_queue_duration_seconds: histogramRow(queueLabels, "How long keys waited in the queue.", queueBuckets),
  workqueue_work_duration_seconds: histogramRow(queueLabels, "How long reconciles took.", queueBuckets),
  workqueue_retries_total: counterRow(queueLabels, "Retried keys."),
  client_go_request_total: counterRow(["code", "method"], "Requests to the API server, by status code."),
  client_go_request_duration_seconds: histogramRow(
    ["verb", "group", "version", "kind", "subresource"],
    "How long requests to the API server took.",
    requestBuckets,
  ),
  leader_election_master_status: gaugeRow(["name"], "Whether this process holds the lease."),
} as const satisfies Readonly<Record<string, MetricRow>>;

export interface FrameworkMetrics {
  readonly observerFor: (controller: string) => ReconcilerObserver;
  readonly recordRequest: (outcome: RequestOutcome) => void;
  readonly recordLeadership: (lease: string, isLeader: boolean) => void;
}

/** Records what kube's reconcilers and client do. */
export function frameworkMetrics(registry: Registry): FrameworkMetrics {
  const made = Object.entries(frameworkMetricTable).map(([name, row]) => [name, makeMetric(registry, name, row)]);
  const families = Object.fromEntries(made) as FrameworkFamilies;
  return {
    observerFor: (controller) => reconcilerObserver(families, controller),
    recordRequest: (outcome) => {
      const { type, method, subresource = "", httpStatus, durationMs, isWatch } = outcome;
      families.client_go_request_total.record({ code: httpStatus?.toString() ?? "<error>", method }, 1);
      const { group, version, kind } = type;
      const verb = isWatch ? "WATCH" : method;
      const labels = { verb, group, version, kind, subresource };
      families.client_go_request_duration_seconds.record(labels, durationMs / 1_000);
    },
    recordLeadership: (name, isLeader) => families.leader_election_master_status.record({ name }, isLeader ? 1 : 0),
  };
}

const results: Readonly<Record<ReconcileOutcome, string>> = {
  success: "success",
  "requeue-after": "requeue_after",
  error: "error",
};

type FrameworkFamilies = Record<keyof typeof frameworkMetricTable, ReturnType<typeof makeMetric>>;

function reconcilerObserver(families: FrameworkFamilies, controller: string): ReconcilerObserver {
  const own = { controller };
  const queue = { name: controller, controller };
  let active = 0;
  const working = (change: number): void => {
    active += change;
    families.controller_runtime_active_workers.record(own, active);
  };
  return {
    workersStarted: (concurrency) => {
      families.controller_runtime_max_concurrent_reconciles.record(own, concurrency);
      working(-active);
    },
    added: (depth) => {
      families.workqueue_adds_total.record(queue, 1);
      families.workqueue_depth.record(queue, depth);
    },
    taken: (waitedMs, depth) => {
      families.workqueue_queue_duration_seconds.record(queue, waitedMs / 1_000);
      families.workqueue_depth.record(queue, depth);
    },
    retried: () => families.workqueue_retries_total.record(queue, 1),
    runStarted: () => working(1),
    runFinished: (outcome, durationMs) => {
      working(-1);
      families.controller_runtime_reconcile_total.record({ controller, result: results[outcome] }, 1);
      if (outcome === "error") families.controller_runtime_reconcile_errors_total.record(own, 1);
      families.controller_runtime_reconcile_time_seconds.record(own, durationMs / 1_000);
      families.workqueue_work_duration_seconds.record(queue, durationMs / 1_000);
    },
  };
}
