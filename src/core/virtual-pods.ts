import type { CapacityBuffer } from "../api/kinds/capacity-buffer.ts";
import type { PodTemplateSpec } from "../api/kubernetes/cluster-objects.ts";
import type { Container, Pod, PodSpec, PodStatus } from "../api/kubernetes/pod.ts";
import { annotations } from "../api/labels.ts";
import { namespaceOf } from "../api/object.ts";
import { type BufferResourceList, bufferReplicas } from "../api/validation/capacity-buffer.ts";
import { podRequests, withLimitsAsRequests } from "./pod-requests.ts";

/** The pod template a buffer refers to. (02:B-2) */
export interface BufferTemplate {
  readonly template: PodTemplateSpec;
  /** Set for a workload: the percentage is of its replicas. */
  readonly scalable?: { readonly replicas?: number | undefined };
}

/** The lowest priority. */
const lowestPriority = -(2 ** 31);

/** Of a pod the scheduler found unschedulable. */
export const unschedulableStatus: PodStatus = {
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
};

/** The pods a buffer reserves capacity for; they exist only in scheduling passes. (02:B-3, B-5) */
export function virtualPods(buffer: CapacityBuffer, source: BufferTemplate): readonly Pod[] {
  const { metadata } = buffer;
  const { name = "", uid = "", creationTimestamp } = metadata as Pod["metadata"];
  const namespace = namespaceOf(metadata as Pod["metadata"]);
  const spec = virtualSpec(source.template.spec);
  const count = bufferPodCount(buffer, source);
  const shared = {
    namespace,
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    ...(source.template.metadata?.labels && { labels: source.template.metadata.labels }),
    annotations: {
      [annotations.bufferFakePod]: "true",
      [annotations.bufferName]: name,
      [annotations.bufferNamespace]: namespace,
    },
  };
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...shared, name: `capacity-buffer-${name}-${index + 1}`, uid: `${uid}-${index + 1}` },
    spec,
    status: unschedulableStatus,
  }));
}

export function isBufferPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[annotations.bufferFakePod] === "true";
}

/** Whether it exists only in scheduling passes: a buffer's, or one that a ReplicaSet has yet to create. (02:P-35) */
export function isVirtualPod(pod: Pod): boolean {
  return isBufferPod(pod) || pod.metadata.annotations?.[annotations.expectedPodOf] !== undefined;
}

/** How many pods a buffer has. (02:B-3) */
export function bufferPodCount({ spec }: CapacityBuffer, { template, scalable }: BufferTemplate): number {
  const { replicas, percentage, limits } = spec;
  const asked = podRequests({ metadata: {}, spec: virtualSpec(template.spec) });
  const requests: BufferResourceList = Object.fromEntries(
    Object.entries(asked).map(([name, quantity]) => [name, quantity.toString()]),
  );
  return bufferReplicas({ replicas, percentage, limits, scalable, requests });
}

type ContainerWithMounts = Container & { readonly volumeMounts?: readonly { readonly name: string }[] };

/** No volume claims exist for virtual pods, so their volumes and mounts are removed. (02:B-5) */
function virtualSpec(written: PodSpec): PodSpec {
  const { nodeName: _, ...spec } = withLimitsAsRequests(written);
  const gone = new Set(
    (spec.volumes ?? []).filter((one) => one.persistentVolumeClaim ?? one.ephemeral).map(({ name }) => name),
  );
  const unmounted = (container: ContainerWithMounts): ContainerWithMounts =>
    container.volumeMounts === undefined
      ? container
      : { ...container, volumeMounts: container.volumeMounts.filter(({ name }) => !gone.has(name)) };
  return {
    ...spec,
    priority: lowestPriority,
    ...(spec.volumes && { volumes: spec.volumes.filter(({ name }) => !gone.has(name)) }),
    ...(spec.containers && { containers: spec.containers.map(unmounted) }),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(unmounted) }),
  };
}
