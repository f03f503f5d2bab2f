/** 03 §6.1, transcribed: what dashboards and alerts expect. Without `karpenter_` where the name begins so. */
export interface SpecMetric {
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  readonly labels: readonly string[];
}

function rows(
  type: SpecMetric["type"],
  labels: string,
  ...names: readonly string[]
): readonly (readonly [string, SpecMetric])[] {
  return names.map((name) => [name, { type, labels: words(labels) }]);
}

function words(text: string): readonly string[] {
  return text.split(" ").filter((word) => word !== "");
}

const disruption = "reason nodepool capacity_type consolidation_policy termination_mode";
const decision = "decision reason consolidation_type";
const waiting = "name namespace";
const offering = "instance_type capacity_type zone";
/** `…_instance_type_…` and so on: what a provider adds to the labels of nodes depends on the provider. */
const node =
  "node_name phase managed nodepool zone region instance_type arch os capacity_type windows_build " +
  "instance_size instance_family instance_cpu instance_memory";

const classes = "karpenter_kwok_sh_kwoknodeclass karpenter_k8s_aws_ec2nodeclass";
const extras: Readonly<Record<string, string>> = {
  nodeclaim: `${classes} karpenter_sh_nodepool`,
  node: `${classes} karpenter_sh_nodepool karpenter_sh_initialized`,
};

export const specMetrics: ReadonlyMap<string, SpecMetric> = new Map([
  ...rows("gauge", "version goversion goarch commit", "build_info"),
  ...rows("counter", "reason nodepool min_values_relaxed", "nodeclaims_created_total"),
  ...rows("counter", "nodepool capacity_type zone", "nodeclaims_terminated_total"),
  ...rows("counter", disruption, "nodeclaims_disrupted_total", "pods_disruption_initiated_total"),
  ...rows("counter", "condition nodepool capacity_type image_id", "nodeclaims_unhealthy_disrupted_total"),
  ...rows("histogram", "nodepool", "nodeclaims_instance_termination_duration_seconds"),
  ...rows("histogram", "nodepool", "nodeclaims_termination_duration_seconds", "nodes_lifetime_duration_seconds"),
  ...rows("counter", "nodepool zone", "nodes_created_total", "nodes_terminated_total"),
  ...rows("counter", "nodepool", "nodes_drained_total"),
  ...rows("summary", "nodepool", "nodes_termination_duration_seconds"),
  ...rows("gauge", `${node} resource_type`, "nodes_allocatable", "nodes_total_pod_requests", "nodes_total_pod_limits"),
  ...rows("gauge", `${node} resource_type`, "nodes_total_daemon_requests", "nodes_total_daemon_limits"),
  ...rows("gauge", `${node} resource_type`, "nodes_system_overhead"),
  ...rows("gauge", node, "nodes_current_lifetime_seconds"),
  ...rows("gauge", "resource_type", "cluster_utilization_percent"),
  ...rows("gauge", "resource_type nodepool", "nodepools_limit", "nodepools_usage"),
  ...rows("gauge", "nodepool", "nodepools_cost_total"),
  ...rows("counter", "nodepool", "nodepools_cost_tracker_errors_total"),
  ...rows("gauge", "nodepool reason", "nodepools_allowed_disruptions", "nodepools_nodes_consuming_budgets"),
  ...rows("counter", decision, "voluntary_disruption_decisions_total", "voluntary_disruption_queue_failures_total"),
  ...rows("counter", `${decision} nodepool`, "voluntary_disruption_decisions_by_nodepool_total"),
  ...rows("gauge", "reason", "voluntary_disruption_eligible_nodes"),
  ...rows("histogram", "reason consolidation_type", "voluntary_disruption_decision_evaluation_duration_seconds"),
  ...rows("counter", "consolidation_type", "voluntary_disruption_consolidation_timeouts_total"),
  ...rows("counter", "consolidation_type", "voluntary_disruption_failed_validations_total"),
  ...rows("histogram", "decision nodepool policy", "consolidation_score"),
  ...rows("counter", "decision nodepool policy", "consolidation_moves_total"),
  ...rows(
    "gauge",
    "name namespace owner node scheduled nodepool zone arch capacity_type instance_type phase ready managed",
    "pods_state",
  ),
  ...rows("summary", "", "pods_startup_duration_seconds"),
  ...rows("histogram", "", "pods_bound_duration_seconds", "pods_scheduling_decision_duration_seconds"),
  ...rows("gauge", waiting, "pods_unstarted_time_seconds", "pods_unbound_time_seconds"),
  ...rows("histogram", "", "pods_provisioning_bound_duration_seconds", "pods_provisioning_startup_duration_seconds"),
  ...rows("gauge", waiting, "pods_provisioning_unbound_time_seconds", "pods_provisioning_unstarted_time_seconds"),
  ...rows("gauge", waiting, "pods_provisioning_scheduling_undecided_time_seconds"),
  ...rows("counter", "code", "pods_eviction_requests_total"),
  ...rows("counter", "reason", "pods_drained_total"),
  ...rows("histogram", "controller", "scheduler_scheduling_duration_seconds"),
  ...rows("gauge", "controller scheduling_id", "scheduler_queue_depth", "scheduler_unfinished_work_seconds"),
  ...rows("gauge", "", "scheduler_ignored_pods_count"),
  ...rows("gauge", "controller", "scheduler_unschedulable_pods_count"),
  ...rows("gauge", "controller zone", "scheduler_pending_pods_by_effective_zone_count"),
  ...rows("gauge", "", "cluster_state_node_count", "cluster_state_synced", "cluster_state_unsynced_time_seconds"),
  ...rows("histogram", "controller method provider", "cloudprovider_duration_seconds"),
  ...rows("counter", "controller method provider error", "cloudprovider_errors_total"),
  ...rows("counter", "message_type", "interruption_received_messages_total"),
  ...rows("counter", "", "interruption_deleted_messages_total"),
  ...rows("histogram", "", "interruption_message_queue_duration_seconds"),
  ...rows("counter", "category", "interruption_instance_status_unhealthy_total"),
  ...rows("gauge", offering, "cloudprovider_instance_type_offering_available"),
  ...rows("gauge", offering, "cloudprovider_instance_type_offering_price_estimate"),
  ...rows("gauge", "instance_type", "cloudprovider_instance_type_cpu_cores"),
  ...rows("gauge", "instance_type", "cloudprovider_instance_type_memory_bytes"),
  ...rows("counter", "zone zone_id capacity_type reason", "cloudprovider_instance_launch_failures_total"),
  ...rows("counter", "zone zone_id", "cloudprovider_instance_termination_failures_total"),
  ...rows("histogram", "batcher", "cloudprovider_batcher_batch_size", "cloudprovider_batcher_batch_time_seconds"),
  ...rows("gauge", "nodeclass", "ec2nodeclasses_userdata_bytes"),
  ...rows("counter", "service operation code", "aws_requests_total"),
  ...rows("histogram", "service operation", "aws_request_duration_seconds"),
  ...["nodeclaim", "nodepool", "node", "kwoknodeclass", "ec2nodeclass", "capacitybuffer"].flatMap((kind) =>
    conditions(`operator_${kind}_`, extras[kind] ?? ""),
  ),
  ...conditions("operator_", "group kind"),
  ...rows("counter", "controller result", "controller_runtime_reconcile_total"),
  ...rows("counter", "controller", "controller_runtime_reconcile_errors_total"),
  ...rows("histogram", "controller", "controller_runtime_reconcile_time_seconds"),
  ...rows("gauge", "controller", "controller_runtime_active_workers", "controller_runtime_max_concurrent_reconciles"),
  ...rows("gauge", "name controller", "workqueue_depth"),
  ...rows("counter", "name controller", "workqueue_adds_total", "workqueue_retries_total"),
  ...rows("histogram", "name controller", "workqueue_queue_duration_seconds", "workqueue_work_duration_seconds"),
  ...rows("counter", "code method", "client_go_request_total"),
  ...rows("histogram", "verb group version kind subresource", "client_go_request_duration_seconds"),
  ...rows("gauge", "name", "leader_election_master_status"),
]);

function conditions(prefix: string, extra: string): readonly (readonly [string, SpecMetric])[] {
  const object = `namespace name ${extra}`;
  const current = `namespace name type status reason ${extra}`;
  return [
    ...rows("counter", `type status reason ${extra}`, `${prefix}status_condition_transitions_total`),
    ...rows("histogram", `type status ${extra}`, `${prefix}status_condition_transition_seconds`),
    ...rows("gauge", current, `${prefix}status_condition_count`),
    ...rows("gauge", current, `${prefix}status_condition_current_status_seconds`),
    ...rows("gauge", object, `${prefix}termination_current_time_seconds`),
    ...rows("histogram", extra, `${prefix}termination_duration_seconds`),
  ];
}
