import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";

/** A Pod as a client reads it: everything of it is there, typed as far as scheduling goes. */
export type ApiPod = KubeObject & Pod;

/** A Node as a client reads it. */
export type ApiNode = KubeObject & Node;

/** It will never run again, and holds nothing of its node. */
export function hasTerminalPhase({ status }: Pick<Pod, "status">): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function hasDeletionTimestamp({ metadata }: Pick<KubeObject, "metadata">): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function conditionOfType(
  object: { readonly status?: { readonly conditions?: readonly StatusCondition[] | undefined } | undefined },
  type: string,
): StatusCondition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}
