import type { Node } from "../../../api/kubernetes/cluster.ts";
import type { Pod } from "../../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../../api/object.ts";

/** A Pod as a client reads it: everything of it is there, typed as far as scheduling goes. */
export type LivePod = KubeObject & Pod;

/** A Node as a client reads it. */
export type LiveNode = KubeObject & Node;

/** It will never run again, and holds nothing of its node. */
export function isFinished({ status }: Pick<Pod, "status">): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function isTerminating({ metadata }: Pick<KubeObject, "metadata">): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function conditionOf(
  object: { readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
}
