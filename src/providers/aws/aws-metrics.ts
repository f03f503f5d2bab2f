type Labels<Name extends string> = Readonly<Record<Name, string>>;
type Collector<Name extends string> = () => Iterable<{ readonly labels: Labels<Name>; readonly value: number }>;

/** The metrics of the AWS provider. (04 §5.5, 03:I-4) */
export interface AwsMetrics {
  count(
    name: "nodeclaims_disrupted_total",
    labels: Labels<"reason" | "nodepool" | "capacity_type" | "consolidation_policy" | "termination_mode">,
  ): void;
  count(name: "interruption_received_messages_total", labels: Labels<"message_type">): void;
  count(name: "interruption_deleted_messages_total", labels: Labels<never>): void;
  count(name: "interruption_instance_status_unhealthy_total", labels: Labels<"category">): void;
  count(
    name: "cloudprovider_instance_launch_failures_total",
    labels: Labels<"zone" | "zone_id" | "capacity_type" | "reason">,
  ): void;
  count(name: "cloudprovider_instance_termination_failures_total", labels: Labels<"zone" | "zone_id">): void;
  count(name: "aws_requests_total", labels: Labels<"service" | "operation" | "code">): void;
  observe(name: "interruption_message_queue_duration_seconds", labels: Labels<never>, value: number): void;
  observe(
    name: "cloudprovider_batcher_batch_size" | "cloudprovider_batcher_batch_time_seconds",
    labels: Labels<"batcher">,
    value: number,
  ): void;
  observe(name: "aws_request_duration_seconds", labels: Labels<"service" | "operation">, value: number): void;
  set(name: "ec2nodeclasses_userdata_bytes", labels: Labels<"nodeclass">, value: number): void;
  forget(name: "ec2nodeclasses_userdata_bytes", labels: Labels<"nodeclass">): void;
  /** Series that are computed when metrics are read. Returns how to stop. */
  collect(
    name: "cloudprovider_instance_type_cpu_cores" | "cloudprovider_instance_type_memory_bytes",
    series: Collector<"instance_type">,
  ): () => void;
  collect(
    name: "cloudprovider_instance_type_offering_available" | "cloudprovider_instance_type_offering_price_estimate",
    series: Collector<"instance_type" | "capacity_type" | "zone">,
  ): () => void;
}
