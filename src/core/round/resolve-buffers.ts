import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName, namespaceOf, type ObjectMeta } from "../../api/object.ts";
import { type BufferTemplate, bufferPodCount, virtualPods } from "../virtual-pods.ts";

/** A PodTemplate object, which keeps its template beside its metadata. */
export interface NamedPodTemplate {
  readonly metadata: ObjectMeta;
  readonly template: PodTemplateSpec;
}

/** Why a buffer has no pods. (02:B-1, B-2) */
export type BufferFault = "ResolutionFailed" | "PodTemplateNotFound" | "ScalableRefNotFound" | "TooManyReplicas";

/** Of all buffers together: limits that are large compared to a pod's requests would allow any number. */
const maxBufferPods = 100_000;

export interface ResolvedBuffers {
  readonly pods: readonly Pod[];
  readonly faults: readonly { readonly buffer: CapacityBuffer; readonly reason: BufferFault }[];
}

export interface BufferSources {
  readonly podTemplates: readonly NamedPodTemplate[];
  /** Deployments, StatefulSets and ReplicaSets. */
  readonly workloads: readonly KubeObject[];
}

/** The virtual pods of all buffers; `otherPods` is how many those of further buffers have. (02 §8.2) */
export function resolveBuffers(
  buffers: readonly CapacityBuffer[],
  sources: BufferSources,
  { otherPods = 0 }: { readonly otherPods?: number | undefined } = {},
): ResolvedBuffers {
  const pods: Pod[] = [];
  const faults: { buffer: CapacityBuffer; reason: BufferFault }[] = [];
  for (const buffer of buffers) {
    const found = bufferTemplateOf(buffer, sources);
    if (typeof found === "string") faults.push({ buffer, reason: found });
    else if (otherPods + pods.length + bufferPodCount(buffer, found) > maxBufferPods)
      faults.push({ buffer, reason: "TooManyReplicas" });
    else for (const pod of virtualPods(buffer, found)) pods.push(pod);
  }
  return { pods, faults };
}

function bufferTemplateOf(
  buffer: CapacityBuffer,
  { podTemplates, workloads }: BufferSources,
): BufferTemplate | BufferFault {
  const { podTemplateRef, scalableRef } = buffer.spec;
  const namespace = namespaceOf(buffer.metadata as ObjectMeta);
  if (podTemplateRef !== undefined) {
    const key = `${namespace}/${podTemplateRef.name}`;
    const found = podTemplates.find(({ metadata }) => namespacedName(metadata) === key);
    return found === undefined ? "PodTemplateNotFound" : { template: found.template };
  }
  if (scalableRef === undefined) return "ResolutionFailed";
  const { apiGroup = "", kind, name } = scalableRef;
  if ((apiGroup !== "" && apiGroup !== "apps") || !scalableKinds.includes(kind)) return "ResolutionFailed";
  const found = workloads.find((one) => one.kind === kind && namespacedName(one.metadata) === `${namespace}/${name}`);
  if (found === undefined) return "ScalableRefNotFound";
  const { template, replicas } = found.spec as { readonly template: PodTemplateSpec; readonly replicas?: number };
  return { template, scalable: { replicas } };
}

const scalableKinds: readonly string[] = ["Deployment", "StatefulSet", "ReplicaSet"];
