import type { KubeObject, ObjectMeta } from "../api/object.ts";
import type { DeleteOptions, KubeClient, ResourceType } from "../kube/client.ts";
import { ignoreKubeErrors, isKubeError } from "../kube/kube-error.ts";
import type { ReconcileResult } from "../kube/reconciler.ts";

/** An object as the API server has it. */
export type ExistingObject = { readonly metadata: ObjectMeta };

export interface MergePatchOptions {
  readonly subresource?: "status" | undefined;
  /** The patch is refused unless the object is still as we saw it: lists are replaced whole. (03:S-10) */
  readonly hasOptimisticLock?: boolean | undefined;
}

export function mergePatchObject<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType,
  { metadata }: ExistingObject,
  { body, subresource, hasOptimisticLock = false }: MergePatchOptions & { readonly body: object },
): Promise<T> {
  const guarded = hasOptimisticLock ? withVersion(body, metadata.resourceVersion) : body;
  const patch = { kind: "merge", body: guarded } as const;
  return client.patch<T>(type, objectKeyFromMeta(metadata), patch, subresource ? { subresource } : {});
}

/** Deletes exactly the object we saw (by uid); one that is already gone counts as deleted. (03:S-11) */
export async function deleteExisting(
  client: KubeClient,
  type: ResourceType,
  { metadata }: ExistingObject,
  options: DeleteOptions = {},
): Promise<void> {
  const sameUid = metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } };
  await ignoreKubeErrors(client.delete(type, objectKeyFromMeta(metadata), { ...sameUid, ...options }), "not-found");
}

/** After a conflict the watch normally wakes us; this is the fallback. */
export const conflictRetryMs = 1_000;

/** A conflict, or the object is gone: expected, not worth an error. (03:S-10) */
export function isConflictOrNotFound(error: unknown): boolean {
  return isKubeError(error, "conflict", "not-found");
}

/** Requeues on a conflict instead of failing. */
export function requeueOnConflict<Args extends readonly unknown[]>(
  reconcile: (...args: Args) => Promise<ReconcileResult>,
): (...args: Args) => Promise<ReconcileResult> {
  return async (...args) => {
    try {
      return await reconcile(...args);
    } catch (error) {
      if (isConflictOrNotFound(error)) return { afterMs: conflictRetryMs };
      throw error;
    }
  };
}

export function objectKeyFromMeta({ name = "", namespace }: ObjectMeta): { name: string; namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace };
}

function withVersion(body: object, resourceVersion: string | undefined): object {
  const { metadata = {} } = body as { readonly metadata?: object };
  return { ...body, metadata: { ...metadata, resourceVersion } };
}
