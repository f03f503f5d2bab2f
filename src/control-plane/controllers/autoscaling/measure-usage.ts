import { compileSelector } from "../../../core/label-selector.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { Quantity } from "../../../util/quantity.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import type { ScalableWorkload } from "../workloads/scalable-workloads.ts";
import type { HorizontalPodAutoscaler, MetricSpec } from "./autoscaler-types.ts";
import { type MeasurableMetric, measurableMetric, type PodMetrics, podAmounts } from "./measure-pods.ts";
import { proposeReplicas, type ReplicaProposal } from "./replica-proposal.ts";

const defaultTolerance = 0.1;
const defaultMetrics: readonly MetricSpec[] = [
  { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
];
const podMetricsType: ResourceType = {
  group: "metrics.k8s.io",
  version: "v1beta1",
  plural: "pods",
  kind: "PodMetrics",
  namespaced: true,
};

interface MeasuredUsage {
  /** Undefined: no metric says anything. */
  readonly wanted?: number | undefined;
  readonly because?: string | undefined;
  readonly metrics: readonly object[];
  readonly problem?: { readonly reason: string; readonly message: string } | undefined;
}

/** The metric that asks for the most replicas counts; while one cannot be read there are not fewer. */
export async function measureUsage(
  autoscaler: HorizontalPodAutoscaler,
  target: ScalableWorkload,
  context: ControllerContext,
): Promise<MeasuredUsage> {
  const { namespace = "" } = autoscaler.metadata;
  const selector = compileSelector(target.spec.selector);
  const pods = context
    .view<ApiPod>(builtInTypes.Pod)
    .inNamespace(namespace)
    .filter(({ metadata }) => selector.matches(metadata.labels));
  const { items } = await context.client.list<PodMetrics>(podMetricsType, { namespace });
  const measured = new Map(items.map((one) => [one.metadata.name ?? "", one]));
  const currentReplicas = target.spec.replicas ?? 1;
  const { scaleUp, scaleDown } = autoscaler.spec.behavior ?? {};
  const tolerances = { up: toleranceOf(scaleUp?.tolerance), down: toleranceOf(scaleDown?.tolerance) };
  const { metrics: written = [] } = autoscaler.spec;
  const readings = (written.length === 0 ? defaultMetrics : written).map((spec) => {
    const metric = measurableMetric(spec);
    const amounts = metric && podAmounts(pods, measured, metric);
    const isWithoutRequest = metric?.target.kind === "utilization" && amounts?.some(({ requested }) => requested === 0);
    const proposal =
      metric && amounts && !isWithoutRequest
        ? proposeReplicas(amounts, { target: metric.target, currentReplicas, tolerances })
        : undefined;
    return { spec, metric, proposal, isWithoutRequest };
  });
  const read = readings.flatMap(({ metric, proposal }) => (metric && proposal ? [{ metric, proposal }] : []));
  const most = read.reduce<(typeof read)[number] | undefined>(
    (best, one) => (best === undefined || one.proposal.replicas > best.proposal.replicas ? one : best),
    undefined,
  );
  const failed = readings.find(({ proposal }) => proposal === undefined);
  const isHeld = failed !== undefined && (most === undefined || most.proposal.replicas < currentReplicas);
  return {
    ...(most !== undefined &&
      !isHeld && { wanted: most.proposal.replicas, because: reasonOf(most.metric, most.proposal, currentReplicas) }),
    metrics: read.map(({ metric, proposal }) => metricStatus(metric, proposal)),
    ...(isHeld && { problem: readingProblem(failed) }),
  };
}

function toleranceOf(written: string | undefined): number {
  return written === undefined ? defaultTolerance : Quantity.parse(written).toNumber();
}

function readingProblem(failed: {
  readonly spec: MetricSpec;
  readonly metric: MeasurableMetric | undefined;
  readonly isWithoutRequest: boolean | undefined;
}) {
  const { spec, metric, isWithoutRequest } = failed;
  if (metric === undefined)
    return {
      reason: `FailedGet${spec.type}Metric`,
      message: `metrics of type ${spec.type} cannot be read: this cluster simulates cpu and memory of pods only`,
    };
  const { name } = metric.resource;
  return {
    reason: "FailedGetResourceMetric",
    message: isWithoutRequest
      ? `failed to get ${name} utilization: missing request for ${name} in a container of the pods`
      : `failed to get ${name} usage: no ready pod was measured yet`,
  };
}

function reasonOf({ resource, target }: MeasurableMetric, { replicas }: ReplicaProposal, current: number): string {
  if (replicas < current) return "All metrics below target";
  const what = target.kind === "utilization" ? "resource utilization (percentage of request)" : "resource";
  return `${resource.name} ${what} above target`;
}

function metricStatus({ resource, container }: MeasurableMetric, proposal: ReplicaProposal): object {
  const { averageUsed, averagePercent } = proposal;
  const isCpu = resource.name === "cpu";
  const current = {
    averageValue: isCpu ? `${averageUsed}m` : String(Math.floor(averageUsed / 1000)),
    ...(averagePercent !== undefined && { averageUtilization: averagePercent }),
  };
  return container === undefined
    ? { type: "Resource", resource: { name: resource.name, current } }
    : { type: "ContainerResource", containerResource: { name: resource.name, container, current } };
}
