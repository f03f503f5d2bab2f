import type { PodTemplateSpec } from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject, OwnerReference } from "../../../api/object.ts";
import type { WorkloadPod } from "./types.ts";

export function isPodTerminal({ status }: WorkloadPod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function isPodTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Neither finished nor terminating. */
export function isPodActive(pod: WorkloadPod): boolean {
  return !isPodTerminal(pod) && !isPodTerminating(pod);
}

export function isPodReady(pod: WorkloadPod): boolean {
  return readyCondition(pod)?.status === "True";
}

/** When it became ready; undefined if it is not. */
export function podReadySince(pod: WorkloadPod): number | undefined {
  const condition = readyCondition(pod);
  return condition?.status === "True" ? Date.parse(condition.lastTransitionTime ?? "") || 0 : undefined;
}

function readyCondition({ status }: WorkloadPod) {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

export interface AvailabilityOptions {
  readonly minReadySeconds: number | undefined;
  readonly now: number;
}

/** Ready for at least minReadySeconds. */
export function isPodAvailable(pod: WorkloadPod, { minReadySeconds = 0, now }: AvailabilityOptions): boolean {
  const since = podReadySince(pod);
  return since !== undefined && (minReadySeconds === 0 || since + minReadySeconds * 1000 <= now);
}

/** How long until the next of the ready pods becomes available. */
export function untilNextAvailableMs(pods: readonly WorkloadPod[], options: AvailabilityOptions): number | undefined {
  const { minReadySeconds = 0, now } = options;
  const waits = pods
    .filter((pod) => isPodReady(pod) && !isPodAvailable(pod, options))
    .map((pod) => (podReadySince(pod) ?? 0) + minReadySeconds * 1000 - now);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

export interface PodFromTemplateOptions {
  readonly template: PodTemplateSpec;
  readonly owner: OwnerReference;
  readonly namespace: string | undefined;
  readonly naming: { readonly generateName: string } | { readonly name: string };
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: Partial<WorkloadPod["spec"]>;
}

/** Builds a pod from a template. */
export function podFromTemplate({ template, owner, namespace, naming, ...more }: PodFromTemplateOptions): WorkloadPod {
  const { metadata = {}, spec } = template;
  const labels = { ...metadata.labels, ...more.labels };
  const annotations = { ...metadata.annotations, ...more.annotations };
  const finalizers = [...(metadata.finalizers ?? []), ...(more.finalizers ?? [])];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...naming,
      namespace,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(finalizers.length > 0 && { finalizers }),
      ownerReferences: [owner],
    },
    spec: { ...spec, ...more.spec },
  };
}
