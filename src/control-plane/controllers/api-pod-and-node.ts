import type { Node } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";

/** A Pod as clients read it, typed as far as scheduling needs. */
export type ApiPod = KubeObject & Pod;

export type ApiNode = KubeObject & Node;

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
