import type { CapacityBuffer } from "../../api/kinds/capacity-buffer.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import {
  type BufferFault,
  type BufferSources,
  type NamedPodTemplate,
  resolveBuffers,
} from "../../core/round/resolve-buffers.ts";
import type { KubeClient, ResourceType } from "../../kube/client.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import { builtInTypes } from "../../kube/resources.ts";

/** What a buffer's reference resolves to. (02:B-2) */
export type BufferResolution =
  | { readonly kind: "resolved"; readonly pods: readonly Pod[]; readonly template?: PodTemplateVersion | undefined }
  | { readonly kind: "refused"; readonly fault: BufferFault }
  /** Reading the reference failed: it is retried. */
  | { readonly kind: "unknown"; readonly error: unknown };

/** The PodTemplate in use, and its generation. */
interface PodTemplateVersion {
  readonly name: string;
  readonly generation: number;
}

/** What the percentage of a buffer can refer to. (02:B-2) */
const scalableKinds: Readonly<Record<string, ResourceType>> = {
  Deployment: builtInTypes.Deployment,
  StatefulSet: builtInTypes.StatefulSet,
  ReplicaSet: builtInTypes.ReplicaSet,
};

/** `otherPods` is how many pods the other buffers have. */
export async function resolveBuffer(
  buffer: CapacityBuffer,
  { client, otherPods }: { readonly client: KubeClient; readonly otherPods: () => number },
): Promise<BufferResolution> {
  try {
    const sources = await sourcesOf(buffer, client);
    const { pods, faults } = resolveBuffers([buffer], sources, { otherPods: otherPods() });
    const [fault] = faults;
    if (fault !== undefined) return { kind: "refused", fault: fault.reason };
    return { kind: "resolved", pods, template: podTemplateVersionOf(sources) };
  } catch (error) {
    return { kind: "unknown", error };
  }
}

/** The kind of workload a buffer scales with, if it is one that can be. */
export function scalableTypeOf({ spec: { scalableRef } }: Pick<CapacityBuffer, "spec">): ResourceType | undefined {
  return scalableRef && scalableKinds[scalableRef.kind];
}

/** The object a buffer refers to, if it exists; read from the server, whose answer no watch can be behind. (02:B-4) */
async function sourcesOf({ spec, metadata }: CapacityBuffer, client: KubeClient): Promise<BufferSources> {
  const { podTemplateRef, scalableRef } = spec;
  const find = async <T extends KubeObject>(type: ResourceType, name: string): Promise<readonly T[]> => {
    const found = await ignoreKubeErrors(client.get<T>(type, { name, namespace: metadata.namespace }), "not-found");
    return found === undefined ? [] : [found];
  };
  if (podTemplateRef !== undefined) {
    const podTemplates = await find<KubeObject & NamedPodTemplate>(builtInTypes.PodTemplate, podTemplateRef.name);
    return { podTemplates, workloads: [] };
  }
  const type = scalableTypeOf({ spec });
  return { podTemplates: [], workloads: type === undefined ? [] : await find(type, scalableRef?.name ?? "") };
}

function podTemplateVersionOf({ podTemplates: [template] }: BufferSources): PodTemplateVersion | undefined {
  if (template === undefined) return undefined;
  const { name = "", generation = 0 } = template.metadata;
  return { name, generation };
}
