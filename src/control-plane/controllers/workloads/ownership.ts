import type { LabelSelector } from "../../../api/kubernetes/pod.ts";
import type { KubeObject, OwnerReference } from "../../../api/object.ts";
import { compileSelector } from "../../../core/label-selector.ts";
import { cacheKey, type DeleteOptions, type ResourceType } from "../../../kube/client.ts";
import { type ControllerContext, triggerOn, type WatchTrigger } from "../../../kube/controller.ts";
import { ignoreKubeErrors, isKubeError } from "../../../kube/kube-error.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { apiVersionOf } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";

export function controllerReferenceOf({ metadata }: Pick<KubeObject, "metadata">): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const reference = controllerReferenceOf(object);
  return reference !== undefined && reference.uid === owner.metadata.uid;
}

/** The controller reference of this owner's children. */
export function newControllerReference(type: ResourceType, { metadata }: KubeObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

interface ClaimChildrenOptions<T extends KubeObject> {
  readonly type: ResourceType;
  readonly owner: KubeObject & { readonly spec?: { readonly selector?: LabelSelector | undefined } };
  readonly ownerType: ResourceType;
  /** Which children to consider; others are neither adopted nor released. */
  readonly filter?: (child: T) => boolean;
}

/**
 * The children of an owner: those it controls and selects. Releases those it no longer selects and adopts matching
 * orphans, unless the owner is being deleted. (05:CP-L2)
 */
export async function claimChildren<T extends KubeObject>(
  context: ControllerContext,
  { type, owner, ownerType, filter = () => true }: ClaimChildrenOptions<T>,
): Promise<readonly T[]> {
  const view = context.view<T>(type);
  const selector = compileSelector(owner.spec?.selector);
  const isBeingDeleted = owner.metadata.deletionTimestamp !== undefined;
  const kept: T[] = [];
  for (const child of view.controlledBy(owner.metadata.uid)) {
    if (!filter(child)) continue;
    if (selector.matches(child.metadata.labels)) kept.push(child);
    else if (!isBeingDeleted) {
      await patchOwnerReference(context, { type, child, reference: { $patch: "delete", uid: owner.metadata.uid } });
    }
  }
  if (isBeingDeleted) return kept;
  for (const child of view.orphansIn(owner.metadata.namespace ?? "")) {
    const isWanted = selector.matches(child.metadata.labels) && child.metadata.deletionTimestamp === undefined;
    if (!isWanted || !filter(child)) continue;
    const adopted = await patchOwnerReference(context, {
      type,
      child,
      reference: newControllerReference(ownerType, owner),
    });
    if (adopted !== undefined) kept.push(adopted);
  }
  return kept;
}

/** The uid in the patch makes it fail if another object has taken the name. */
function patchOwnerReference<T extends KubeObject>(
  { client }: ControllerContext,
  { type, child, reference }: { readonly type: ResourceType; readonly child: T; readonly reference: object },
): Promise<T | undefined> {
  const body = { metadata: { uid: child.metadata.uid, ownerReferences: [reference] } };
  return ignoreKubeErrors(client.patch<T>(type, namespacedNameOf(child), { kind: "strategic", body }), "not-found");
}

export function namespacedNameOf({ metadata }: KubeObject): {
  readonly name: string;
  readonly namespace: string | undefined;
} {
  return { name: metadata.name ?? "", namespace: metadata.namespace };
}

/** Deletes this very object, and not another that has taken its name since. */
export async function deleteIfExists(
  { client }: ControllerContext,
  type: ResourceType,
  object: KubeObject,
  options: DeleteOptions = {},
): Promise<void> {
  const { uid } = object.metadata;
  const guarded = { ...(uid !== undefined && { preconditions: { uid } }), ...options };
  await ignoreKubeErrors(client.delete(type, namespacedNameOf(object), guarded), "not-found");
}

/** The object as it is in the view by now. */
export function latestOf<T extends KubeObject>(context: ControllerContext, type: ResourceType, object: T) {
  return context.view<T>(type).get(cacheKey(object.metadata));
}

/** In a terminating namespace nothing can be created: not a failure, and retrying is no use. (05:CP-L8) */
export async function ignoreNamespaceTerminating<T>(sync: Promise<T>): Promise<T | undefined> {
  try {
    return await sync;
  } catch (error) {
    if (isNamespaceTerminatingError(error)) return undefined;
    throw error;
  }
}

export function isNamespaceTerminatingError(error: unknown): boolean {
  if (!isKubeError(error, "forbidden")) return false;
  return error.status?.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}

/** Keys of the owners that a change of a child affects: its controllers before and after, and those that might adopt it. */
function ownerKeys(
  { object, old }: ObjectChange<KubeObject>,
  ownerType: ResourceType,
  context: ControllerContext,
): readonly string[] {
  const keys = new Set<string>();
  for (const child of [object, old]) {
    const reference = child === undefined ? undefined : controllerReferenceOf(child);
    if (child === undefined || reference?.kind !== ownerType.kind) continue;
    if (reference.apiVersion === apiVersionOf(ownerType)) {
      keys.add(cacheKey({ namespace: child.metadata.namespace, name: reference.name }));
    }
  }
  if (object !== undefined && controllerReferenceOf(object) === undefined && mayBeAdopted(object, old)) {
    for (const key of potentialOwnerKeys(object, ownerType, context)) keys.add(key);
  }
  return [...keys];
}

function mayBeAdopted(object: KubeObject, old: KubeObject | undefined): boolean {
  return (
    old === undefined ||
    old.metadata.labels !== object.metadata.labels ||
    controllerReferenceOf(old) !== controllerReferenceOf(object)
  );
}

function potentialOwnerKeys({ metadata }: KubeObject, ownerType: ResourceType, context: ControllerContext) {
  return context
    .view<ClaimChildrenOptions<KubeObject>["owner"]>(ownerType)
    .inNamespace(metadata.namespace ?? "")
    .filter(({ spec }) => compileSelector(spec?.selector).matches(metadata.labels))
    .map((owner) => cacheKey(owner.metadata));
}

/** Children often change in bursts: wait briefly and reconcile once. */
export const debounced = { settleMs: 20 } as const;

/** The key of the changed object. */
export function changedObjectKey({ object, old }: ObjectChange<KubeObject>): readonly string[] {
  return [cacheKey((object ?? old).metadata)];
}

/** Triggers of a workload controller: its own objects, and the children they control or might adopt. */
export function workloadTriggers(
  ownerType: ResourceType,
  childType: ResourceType,
  options: Pick<WatchTrigger, "settleMs"> = debounced,
): readonly WatchTrigger[] {
  return [
    triggerOn(ownerType, changedObjectKey),
    triggerOn(childType, (change, context) => ownerKeys(change, ownerType, context), options),
  ];
}

/** Reconciles objects that exist and are not being deleted. */
export function reconcileExisting<T extends KubeObject>(
  type: ResourceType,
  sync: (context: ControllerContext, object: T) => Promise<RequeueAfter | undefined>,
) {
  return async (key: string, context: ControllerContext): Promise<RequeueAfter | undefined> => {
    const object = context.view<T>(type).get(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    return ignoreNamespaceTerminating(sync(context, object));
  };
}
