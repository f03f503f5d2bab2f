import type { KubeObject, ObjectMeta } from "../api/object.ts";
import type { DeleteOptions, KubeClient, ResourceType } from "../kube/client.ts";
import { ignoreKubeErrors, isKubeError } from "../kube/kube-error.ts";
import type { Reconcile } from "../kube/reconciler.ts";

export { ignoreKubeErrors };

/** An object that exists. */
export type ExistingObject = { readonly metadata: ObjectMeta };

export interface MergePatchOptions {
  readonly subresource?: "status" | undefined;
  /** Refused unless the object is still as we saw it: for lists, which are replaced whole. (03:S-10) */
  readonly hasOptimisticLock?: boolean | undefined;
}

/** Changes an object by what a merge patch says. */
export function mergePatchObject<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType,
  { metadata }: ExistingObject,
  { body, subresource, hasOptimisticLock = false }: MergePatchOptions & { readonly body: object },
): Promise<T> {
  const guarded = hasOptimisticLock ? withVersion(body, metadata.resourceVersion) : body;
  return client.patch<T>(
    type,
    objectKeyFromMeta(metadata),
    { kind: "merge", body: guarded },
    subresource ? { subresource } : {},
  );
}

/** Deletes what we saw, and nothing that took its name since; gone already is as good. (03:S-11) */
export async function deleteExisting(
  client: KubeClient,
  type: ResourceType,
  { metadata }: ExistingObject,
  options: DeleteOptions = {},
): Promise<void> {
  const preconditions = metadata.uid === undefined ? {} : { preconditions: { uid: metadata.uid } };
  await ignoreKubeErrors(
    client.delete(type, objectKeyFromMeta(metadata), { ...preconditions, ...options }),
    "not-found",
  );
}

/** The watch tells of what we were too late for; this is for when it does not. */
export const conflictRetryMs = 1_000;

/** Somebody was faster, or the object is gone: nothing a person should hear of. (03:S-10) */
export function isConflictOrNotFound(error: unknown): boolean {
  return isKubeError(error, "conflict", "not-found");
}

/** Looks again where somebody was faster, without a word. */
export function requeueOnConflict<Key extends string, Context>(
  reconcile: Reconcile<Key, Context>,
): Reconcile<Key, Context> {
  return async (key, context) => {
    try {
      return await reconcile(key, context);
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
