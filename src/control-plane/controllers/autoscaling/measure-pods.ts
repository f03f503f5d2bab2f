import type { ResourceList } from "../../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../../api/object.ts";
import { podRequests, QuantityReader } from "../../../core/pod-requests.ts";
import { Quantity } from "../../../util/quantity.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import type { MetricSpec, ResourceMetric } from "./autoscaler-types.ts";
import type { PodAmount, UsageTarget } from "./replica-proposal.ts";

/** PodMetrics of metrics.k8s.io. */
export interface PodMetrics extends KubeObject {
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

/** A metric this cluster can measure. */
export interface MeasurableMetric {
  readonly resource: ResourceMetric;
  readonly container?: string | undefined;
  readonly target: UsageTarget;
}

/** Cpu and memory of pods and containers are simulated; there is nothing to read other metrics from. */
export function measurableMetric({ type, resource, containerResource }: MetricSpec): MeasurableMetric | undefined {
  const metric = type === "ContainerResource" ? containerResource : type === "Resource" ? resource : undefined;
  const target = metric && usageTarget(metric);
  if (metric === undefined || target === undefined) return undefined;
  return { resource: metric, target, ...(metric === containerResource && { container: containerResource.container }) };
}

function usageTarget({ target: { averageUtilization, averageValue } }: ResourceMetric): UsageTarget | undefined {
  if (averageUtilization !== undefined) return { kind: "utilization", percent: averageUtilization };
  return averageValue === undefined ? undefined : { kind: "average", amount: thousandths(averageValue) };
}

/** Finished pods and those on their way out do not count. */
export function podAmounts(
  pods: readonly ApiPod[],
  metrics: ReadonlyMap<string, PodMetrics>,
  metric: MeasurableMetric,
): readonly PodAmount[] {
  const reader = new QuantityReader();
  const counted = pods.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined && status?.phase !== "Failed" && status?.phase !== "Succeeded",
  );
  return counted.map((pod) => {
    const used = usedBy(metrics.get(pod.metadata.name ?? ""), metric);
    return { requested: requestedBy(pod, metric, reader), isReady: isReady(pod), ...(used !== undefined && { used }) };
  });
}

function usedBy(measured: PodMetrics | undefined, { resource, container }: MeasurableMetric): number | undefined {
  if (measured === undefined) return undefined;
  const counted = measured.containers.filter(({ name }) => container === undefined || name === container);
  return counted.reduce((sum, { usage }) => sum + thousandths(usage[resource.name] ?? "0"), 0);
}

function requestedBy(pod: ApiPod, { resource, container }: MeasurableMetric, reader: QuantityReader): number {
  if (container === undefined) return Number(podRequests(pod, reader)[resource.name]?.milliValue() ?? 0);
  const requests: ResourceList = pod.spec.containers?.find(({ name }) => name === container)?.resources?.requests ?? {};
  return thousandths(String(requests[resource.name] ?? "0"));
}

function isReady({ status }: ApiPod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

function thousandths(written: string): number {
  return Number(Quantity.parse(written).milliValue());
}
