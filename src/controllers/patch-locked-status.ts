import type { KubeObject } from "../api/object.ts";
import type { ResourceType } from "../kube/client.ts";
import type { ControllerContext } from "../kube/controller.ts";
import { isKubeError } from "../kube/kube-error.ts";
import type { ReconcileResult } from "../kube/reconciler.ts";
import { conflictRetryMs, mergePatchObject } from "./writes.ts";

/**
 * Patches the status of an object as we saw it. Conditions are a list, and lists are replaced whole: if somebody wrote
 * in between, their write wins and we requeue without an error. (03:S-10)
 */
export async function patchLockedStatus(
  { client }: Pick<ControllerContext, "client">,
  type: ResourceType,
  { object, status }: { readonly object: KubeObject; readonly status: object },
): Promise<ReconcileResult> {
  try {
    await mergePatchObject(client, type, object, { body: { status }, subresource: "status", hasOptimisticLock: true });
  } catch (error) {
    if (isKubeError(error, "conflict")) return { afterMs: conflictRetryMs };
    if (!isKubeError(error, "not-found")) throw error;
  }
  return undefined;
}
