import type { PodTemplateSpec } from "../../../api/kubernetes/cluster-objects.ts";
import type { OwnerReference } from "../../../api/object.ts";
import { type ApiPod, conditionOfType } from "../api-pod-and-node.ts";

export function isPodReady(pod: ApiPod): boolean {
  return conditionOfType(pod, "Ready")?.status === "True";
}

/** When it became ready; undefined if it is not. */
export function podReadySince(pod: ApiPod): number | undefined {
  const condition = conditionOfType(pod, "Ready");
  return condition?.status === "True" ? Date.parse(condition.lastTransitionTime ?? "") || 0 : undefined;
}

export interface AvailabilityOptions {
  readonly minReadySeconds: number | undefined;
  readonly now: number;
}

/** Ready for at least minReadySeconds. */
export function isPodAvailable(pod: ApiPod, { minReadySeconds = 0, now }: AvailabilityOptions): boolean {
  const since = podReadySince(pod);
  return since !== undefined && (minReadySeconds === 0 || since + minReadySeconds * 1000 <= now);
}

/** How long until the next of the ready pods becomes available. */
export function untilNextAvailableMs(pods: readonly ApiPod[], options: AvailabilityOptions): number | undefined {
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
  readonly spec?: Partial<ApiPod["spec"]>;
}

/** Builds a pod from a template. */
export function podFromTemplate({ template, owner, namespace, naming, ...more }: PodFromTemplateOptions): ApiPod {
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
