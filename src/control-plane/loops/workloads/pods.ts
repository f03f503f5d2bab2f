import type { KubeObject, OwnerReference } from "../../../api/object.ts";
import type { LivePod, Template } from "./types.ts";

export function isFinished({ status }: LivePod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Runs, or will. */
export function isActive(pod: LivePod): boolean {
  return !isFinished(pod) && !isTerminating(pod);
}

export function isReady(pod: LivePod): boolean {
  return readyCondition(pod)?.status === "True";
}

/** When it became ready. */
export function readySince(pod: LivePod): number | undefined {
  const condition = readyCondition(pod);
  return condition?.status === "True" ? Date.parse(condition.lastTransitionTime ?? "") || 0 : undefined;
}

function readyCondition({ status }: LivePod) {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

export interface AvailabilityOptions {
  readonly minReadySeconds: number | undefined;
  readonly now: number;
}

/** Ready, and for long enough. */
export function isAvailable(pod: LivePod, { minReadySeconds = 0, now }: AvailabilityOptions): boolean {
  const since = readySince(pod);
  return since !== undefined && (minReadySeconds === 0 || since + minReadySeconds * 1000 <= now);
}

/** How long until the next of these pods that are ready is available. */
export function nextAvailableMs(pods: readonly LivePod[], options: AvailabilityOptions): number | undefined {
  const { minReadySeconds = 0, now } = options;
  const waits = pods
    .filter((pod) => isReady(pod) && !isAvailable(pod, options))
    .map((pod) => (readySince(pod) ?? 0) + minReadySeconds * 1000 - now);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

export interface PodMaker {
  readonly template: Template;
  readonly owner: OwnerReference;
  readonly namespace: string | undefined;
  readonly naming: { readonly generateName: string } | { readonly name: string };
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly spec?: Partial<LivePod["spec"]>;
}

/** A pod as its template and maker want it. */
export function podFrom({ template, owner, namespace, naming, ...more }: PodMaker): LivePod {
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
