/** A metric as dashboards and alerts know it. Names get the prefix `karpenter_`. (03 §6.1) */
export interface MetricRow<Type extends MetricType = MetricType, Label extends string = string> {
  readonly type: Type;
  readonly labels: readonly Label[];
  readonly help: string;
  readonly buckets?: readonly number[] | undefined;
}

export type MetricType = "counter" | "gauge" | "histogram" | "summary";

export const durationBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600,
];
/** The defaults of Go's client library. */
export const defaultBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export const summaryQuantiles: readonly number[] = [0, 0.5, 0.9, 0.99, 1];

const hour = 3_600;
const day = 24 * hour;
const lifetimeBuckets = [
  900,
  1_800,
  2_700,
  ...[1, 2, 4, 6, 8, 10, 12, 16, 20].map((hours) => hours * hour),
  ...[1, 2, 3, 5, 10, 15, 20, 25, 30].map((days) => days * day),
];

/** `1, 2, 4, …`. */
export function exponentialBuckets(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first * 2 ** index);
}

export function counterRow<const L extends string>(labels: readonly L[], help: string): MetricRow<"counter", L> {
  return { type: "counter", labels, help };
}
export function gaugeRow<const L extends string>(labels: readonly L[], help: string): MetricRow<"gauge", L> {
  return { type: "gauge", labels, help };
}
export function histogramRow<const L extends string>(
  labels: readonly L[],
  help: string,
  buckets: readonly number[] = durationBuckets,
): MetricRow<"histogram", L> {
  return { type: "histogram", labels, help, buckets };
}
function summaryRow<const L extends string>(labels: readonly L[], help: string): MetricRow<"summary", L> {
  return { type: "summary", labels, help };
}

const podNameLabels = ["name", "namespace"] as const;
const offeringLabels = ["instance_type", "capacity_type", "zone"] as const;
const disruptionLabels = ["reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"] as const;

const decisionLabels = ["decision", "reason", "consolidation_type"] as const;

/**
 * The metrics of controllers whose labels are fixed. Those whose labels depend on the provider (`nodes_*` gauges) and
 * those named after a kind (`operator_*`) are defined at run time.
 */
export const metricTable = {
  build_info: gaugeRow(["version", "goversion", "goarch", "commit"], "Version and build of this process; always 1."),
  nodeclaims_created_total: counterRow(["reason", "nodepool", "min_values_relaxed"], "NodeClaims created, by reason."),
  nodeclaims_terminated_total: counterRow(["nodepool", "capacity_type", "zone"], "NodeClaims terminated."),
  nodeclaims_disrupted_total: counterRow(disruptionLabels, "NodeClaims disrupted, by reason."),
  nodeclaims_unhealthy_disrupted_total: counterRow(
    ["condition", "nodepool", "capacity_type", "image_id"],
    "NodeClaims disrupted because their node was unhealthy.",
  ),
  nodeclaims_instance_termination_duration_seconds: histogramRow(
    ["nodepool"],
    "From termination request until the instance was gone.",
    exponentialBuckets(1, 11),
  ),
  nodeclaims_termination_duration_seconds: histogramRow(
    ["nodepool"],
    "From the deletion of a NodeClaim until it was gone.",
    exponentialBuckets(1, 12),
  ),
  pods_disruption_initiated_total: counterRow(
    disruptionLabels,
    "Pods on nodes when their disruption began, by reason.",
  ),
  nodes_created_total: counterRow(["nodepool", "zone"], "Nodes registered."),
  nodes_terminated_total: counterRow(["nodepool", "zone"], "Nodes terminated."),
  nodes_drained_total: counterRow(["nodepool"], "Nodes drained."),
  nodes_termination_duration_seconds: summaryRow(["nodepool"], "From the deletion of a Node until it was gone."),
  nodes_lifetime_duration_seconds: histogramRow(
    ["nodepool"],
    "Age of nodes when they were terminated.",
    lifetimeBuckets,
  ),
  cluster_utilization_percent: gaugeRow(["resource_type"], "Pod requests as a percentage of allocatable."),
  nodepools_limit: gaugeRow(["resource_type", "nodepool"], "Limits of pools."),
  nodepools_usage: gaugeRow(["resource_type", "nodepool"], "Resources of the nodes of pools."),
  nodepools_cost_total: gaugeRow(["nodepool"], "Price of the nodes of a pool, in dollars per hour."),
  nodepools_cost_tracker_errors_total: counterRow(["nodepool"], "Nodes with an unknown price."),
  nodepools_allowed_disruptions: gaugeRow(
    ["nodepool", "reason"],
    "Nodes of a pool that may be disrupted at a time for a reason.",
  ),
  nodepools_nodes_consuming_budgets: gaugeRow(
    ["nodepool", "reason"],
    "Nodes of a pool that use up its disruption budgets.",
  ),
  voluntary_disruption_decisions_total: counterRow(decisionLabels, "Disruption commands started."),
  voluntary_disruption_decisions_by_nodepool_total: counterRow(
    [...decisionLabels, "nodepool"],
    "Disruption commands started, by the pools of their nodes.",
  ),
  voluntary_disruption_eligible_nodes: gaugeRow(["reason"], "Nodes that could be disrupted for a reason."),
  voluntary_disruption_decision_evaluation_duration_seconds: histogramRow(
    ["reason", "consolidation_type"],
    "How long a disruption method took.",
  ),
  voluntary_disruption_consolidation_timeouts_total: counterRow(
    ["consolidation_type"],
    "Consolidation searches that ran out of time.",
  ),
  voluntary_disruption_failed_validations_total: counterRow(
    ["consolidation_type"],
    "Nodes whose command no longer held when it was checked again.",
  ),
  voluntary_disruption_queue_failures_total: counterRow(decisionLabels, "Replacements that failed."),
  consolidation_score: histogramRow(
    ["decision", "nodepool", "policy"],
    "Scores of consolidations of Balanced pools.",
    [0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10],
  ),
  consolidation_moves_total: counterRow(["decision", "nodepool", "policy"], "Consolidations evaluated."),
  pods_state: gaugeRow(
    [
      ...podNameLabels,
      ...(["owner", "node", "scheduled", "nodepool", "zone", "arch", "capacity_type", "instance_type"] as const),
      ...(["phase", "ready", "managed"] as const),
    ],
    "One series per pod; always 1.",
  ),
  pods_startup_duration_seconds: summaryRow([], "From creation until ready."),
  pods_bound_duration_seconds: histogramRow([], "From creation until bound."),
  pods_unstarted_time_seconds: gaugeRow(podNameLabels, "How long pods have waited to start."),
  pods_unbound_time_seconds: gaugeRow(podNameLabels, "How long pods have waited for a node."),
  pods_provisioning_bound_duration_seconds: histogramRow([], "From the first round that placed a pod until bound."),
  pods_provisioning_startup_duration_seconds: histogramRow([], "From the first round that placed a pod until ready."),
  pods_provisioning_unbound_time_seconds: gaugeRow(podNameLabels, "How long placed pods have waited to be bound."),
  pods_provisioning_unstarted_time_seconds: gaugeRow(podNameLabels, "How long placed pods have waited to be ready."),
  pods_provisioning_scheduling_undecided_time_seconds: gaugeRow(
    podNameLabels,
    "How long pods have waited for a first decision.",
  ),
  pods_scheduling_decision_duration_seconds: histogramRow(
    [],
    "From when a pending pod was first seen until the first scheduling decision.",
  ),
  pods_eviction_requests_total: counterRow(["code"], "Responses of the eviction API, by status code."),
  pods_drained_total: counterRow(["reason"], "Pods removed from nodes, by reason."),
  scheduler_scheduling_duration_seconds: histogramRow(["controller"], "How long scheduling passes took."),
  scheduler_queue_depth: gaugeRow(["controller", "scheduling_id"], "Pods the running pass has not decided on yet."),
  scheduler_unfinished_work_seconds: gaugeRow(["controller", "scheduling_id"], "How long the running pass has run."),
  scheduler_ignored_pods_count: gaugeRow([], "Pods ignored because they are invalid."),
  scheduler_unschedulable_pods_count: gaugeRow(["controller"], "Unschedulable pods."),
  scheduler_pending_pods_by_effective_zone_count: gaugeRow(
    ["controller", "zone"],
    "Pending pods by the zone they need.",
  ),
  cluster_state_node_count: gaugeRow([], "Nodes in cluster state."),
  cluster_state_synced: gaugeRow([], "Whether cluster state is complete."),
  cluster_state_unsynced_time_seconds: gaugeRow([], "How long cluster state has been incomplete."),
  cloudprovider_duration_seconds: histogramRow(
    ["controller", "method", "provider"],
    "How long calls to the cloud took.",
    defaultBuckets,
  ),
  cloudprovider_errors_total: counterRow(
    ["controller", "method", "provider", "error"],
    "Calls to the cloud that failed.",
  ),
  interruption_received_messages_total: counterRow(["message_type"], "Interruption messages received, by type."),
  interruption_deleted_messages_total: counterRow([], "Interruption messages handled."),
  interruption_message_queue_duration_seconds: histogramRow(
    [],
    "From when an interruption message was sent until it was handled.",
  ),
  interruption_instance_status_unhealthy_total: counterRow(
    ["category"],
    "Instances found unhealthy, once until they recover, by what is unhealthy.",
  ),
  cloudprovider_instance_type_offering_available: gaugeRow(offeringLabels, "Whether an offering is available."),
  cloudprovider_instance_type_offering_price_estimate: gaugeRow(
    offeringLabels,
    "Price of an offering, in dollars per hour.",
  ),
  cloudprovider_instance_type_cpu_cores: gaugeRow(["instance_type"], "CPU cores of an instance type."),
  cloudprovider_instance_type_memory_bytes: gaugeRow(["instance_type"], "Memory of an instance type."),
  cloudprovider_instance_launch_failures_total: counterRow(
    ["zone", "zone_id", "capacity_type", "reason"],
    "Launches that failed, by where and why.",
  ),
  cloudprovider_instance_termination_failures_total: counterRow(["zone", "zone_id"], "Terminations that failed."),
  cloudprovider_batcher_batch_time_seconds: histogramRow(["batcher"], "How long requests were collected."),
  cloudprovider_batcher_batch_size: histogramRow(
    ["batcher"],
    "Requests that were sent as one.",
    [1, 2, 4, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 125, 150, 175, 200, 250, 300, 400, 500, 750, 1_000],
  ),
  ec2nodeclasses_userdata_bytes: gaugeRow(["nodeclass"], "Size of the user data of a node class, at most 16384."),
  aws_requests_total: counterRow(["service", "operation", "code"], "Calls to AWS, by their error; OK without."),
  aws_request_duration_seconds: histogramRow(["service", "operation"], "How long calls to AWS took.", defaultBuckets),
} as const satisfies Readonly<Record<string, MetricRow>>;

export type MetricName = keyof typeof metricTable;
