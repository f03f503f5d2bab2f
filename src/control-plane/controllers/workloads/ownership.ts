import type { LabelSelector } from "../../../api/kubernetes/pod.ts";
import type { KubeObject, OwnerReference } from "../../../api/object.ts";
import { compileSelector } from "../../../core/label-selector.ts";
import type { ResourceType } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { cacheKey } from "../../../kube/object-cache.ts";
import { apiVersionOf } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";

export function controllerReferenceOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const reference = controllerReferenceOf(object);
  return reference !== undefined && reference.uid === owner.metadata.uid;
}

/** What a child says of its controller. */
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

export interface ClaimChildrenOptions<T extends KubeObject> {
  readonly type: ResourceType;
  readonly owner: KubeObject & { readonly spec?: { readonly selector?: LabelSelector | undefined } };
  readonly ownerType: ResourceType;
  /** Which of the children there are count; adoption and release leave others alone. */
  readonly filter?: (child: T) => boolean;
}

/**
 * The children of an owner: those it controls and still selects. Those it no longer selects are let go, and those nobody
 * controls that it selects are taken in, unless it is going itself. (05:CP-L2)
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
    else if (!isBeingDeleted) await releaseChild(context, { type, owner, child });
  }
  if (isBeingDeleted) return kept;
  for (const child of view.orphansIn(owner.metadata.namespace ?? "")) {
    const isWanted = selector.matches(child.metadata.labels) && child.metadata.deletionTimestamp === undefined;
    if (!isWanted || !filter(child)) continue;
    const adopted = await adoptChild<T>(context, { type, child, reference: newControllerReference(ownerType, owner) });
    if (adopted !== undefined) kept.push(adopted);
  }
  return kept;
}

interface ReleaseOptions {
  readonly type: ResourceType;
  readonly owner: KubeObject;
  readonly child: KubeObject;
}

/** The uid in the patch makes it fail on another object that took the name. */
export async function releaseChild(context: ControllerContext, { type, owner, child }: ReleaseOptions): Promise<void> {
  const body = {
    metadata: { uid: child.metadata.uid, ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }] },
  };
  await ignoreNotFound(context.client.patch(type, namespacedNameOf(child), { kind: "strategic", body }));
}

interface AdoptOptions {
  readonly type: ResourceType;
  readonly child: KubeObject;
  readonly reference: OwnerReference;
}

function adoptChild<T extends KubeObject>(
  context: ControllerContext,
  { type, child, reference }: AdoptOptions,
): Promise<T | undefined> {
  const body = { metadata: { uid: child.metadata.uid, ownerReferences: [reference] } };
  return ignoreNotFound(context.client.patch<T>(type, namespacedNameOf(child), { kind: "strategic", body }));
}

export function namespacedNameOf({ metadata }: KubeObject): {
  readonly name: string;
  readonly namespace: string | undefined;
} {
  return { name: metadata.name ?? "", namespace: metadata.namespace };
}

/** Nothing, where the object is gone: whoever wanted to change it has no business left. */
export async function ignoreNotFound<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}

/** Nothing can be made in a namespace that goes. */
export function isNamespaceTerminatingError(error: unknown): boolean {
  if (!isKubeError(error, "forbidden")) return false;
  return error.status?.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}

/** Keys of the owners a child's change concerns: its controllers before and after, and who might adopt it. */
export function ownerKeys<T extends KubeObject>(
  { object, old }: ObjectChange<T>,
  { context, ownerType }: { readonly context: ControllerContext; readonly ownerType: ResourceType },
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
    for (const key of potentialOwnerKeys(object, { context, ownerType })) keys.add(key);
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

function potentialOwnerKeys(
  { metadata }: KubeObject,
  { context, ownerType }: { readonly context: ControllerContext; readonly ownerType: ResourceType },
): readonly string[] {
  return context
    .view<ClaimChildrenOptions<KubeObject>["owner"]>(ownerType)
    .inNamespace(metadata.namespace ?? "")
    .filter(({ spec }) => compileSelector(spec?.selector).matches(metadata.labels))
    .map((owner) => cacheKey(owner.metadata));
}

/** For children, which change in crowds. */
export const debounced = { settleMs: 20 } as const;

/** The key of what changed itself. */
export function changedObjectKey({ object, old }: ObjectChange<KubeObject>): readonly string[] {
  return [cacheKey((object ?? old).metadata)];
}
