import type { LabelSelector } from "../../../api/kubernetes/pod.ts";
import type { KubeObject, OwnerReference } from "../../../api/object.ts";
import { compileSelector } from "../../../core/label-selector.ts";
import type { ResourceType } from "../../../kube/client.ts";
import { isKubeError } from "../../../kube/error.ts";
import type { LoopWorld } from "../../../kube/loop.ts";
import { cacheKey } from "../../../kube/object-cache.ts";
import { apiVersionOf } from "../../../kube/resources.ts";
import type { Change } from "../../../kube/view.ts";

export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  const reference = controllerOf(object);
  return reference !== undefined && reference.uid === owner.metadata.uid;
}

/** What a child says of its controller. */
export function controlledBy(type: ResourceType, { metadata }: KubeObject): OwnerReference {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

export interface ClaimOptions<T extends KubeObject> {
  readonly type: ResourceType;
  readonly owner: KubeObject & { readonly spec?: { readonly selector?: LabelSelector | undefined } };
  readonly ownerType: ResourceType;
  /** Which of the children there are count; adoption and release leave others alone. */
  readonly among?: (child: T) => boolean;
}

/**
 * The children of an owner: those it controls and still selects. Those it no longer selects are let go, and those nobody
 * controls that it selects are taken in, unless it is going itself. (05:CP-L2)
 */
export async function claimed<T extends KubeObject>(
  world: LoopWorld,
  { type, owner, ownerType, among = () => true }: ClaimOptions<T>,
): Promise<readonly T[]> {
  const view = world.view<T>(type);
  const selector = compileSelector(owner.spec?.selector);
  const isLeaving = owner.metadata.deletionTimestamp !== undefined;
  const kept: T[] = [];
  for (const child of view.controlledBy(owner.metadata.uid)) {
    if (!among(child)) continue;
    if (selector.matches(child.metadata.labels)) kept.push(child);
    else if (!isLeaving) await release(world, { type, owner, child });
  }
  if (isLeaving) return kept;
  for (const child of view.orphansIn(owner.metadata.namespace ?? "")) {
    const isWanted = selector.matches(child.metadata.labels) && child.metadata.deletionTimestamp === undefined;
    if (!isWanted || !among(child)) continue;
    const adopted = await adopt<T>(world, { type, child, reference: controlledBy(ownerType, owner) });
    if (adopted !== undefined) kept.push(adopted);
  }
  return kept;
}

interface Release {
  readonly type: ResourceType;
  readonly owner: KubeObject;
  readonly child: KubeObject;
}

/** The uid in the patch makes it fail on another object that took the name. */
export async function release(world: LoopWorld, { type, owner, child }: Release): Promise<void> {
  const body = {
    metadata: { uid: child.metadata.uid, ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }] },
  };
  await orGone(world.client.patch(type, keyOf(child), { kind: "strategic", body }));
}

interface Adoption {
  readonly type: ResourceType;
  readonly child: KubeObject;
  readonly reference: OwnerReference;
}

function adopt<T extends KubeObject>(world: LoopWorld, { type, child, reference }: Adoption): Promise<T | undefined> {
  const body = { metadata: { uid: child.metadata.uid, ownerReferences: [reference] } };
  return orGone(world.client.patch<T>(type, keyOf(child), { kind: "strategic", body }));
}

export function keyOf({ metadata }: KubeObject): { readonly name: string; readonly namespace: string | undefined } {
  return { name: metadata.name ?? "", namespace: metadata.namespace };
}

/** Nothing, where the object is gone: whoever wanted to change it has no business left. */
export async function orGone<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}

/** Nothing can be made in a namespace that goes. */
export function isNamespaceLeaving(error: unknown): boolean {
  if (!isKubeError(error, "forbidden")) return false;
  return error.status?.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") ?? false;
}

/** Keys of the owners a child's change concerns: its controllers before and after, and who might adopt it. */
export function ownersOf<T extends KubeObject>(
  { object, old }: Change<T>,
  { world, ownerType }: { readonly world: LoopWorld; readonly ownerType: ResourceType },
): readonly string[] {
  const keys = new Set<string>();
  for (const child of [object, old]) {
    const reference = child === undefined ? undefined : controllerOf(child);
    if (child === undefined || reference?.kind !== ownerType.kind) continue;
    if (reference.apiVersion === apiVersionOf(ownerType)) {
      keys.add(cacheKey({ namespace: child.metadata.namespace, name: reference.name }));
    }
  }
  if (object !== undefined && controllerOf(object) === undefined && mayNowMatch(object, old)) {
    for (const key of adopters(object, { world, ownerType })) keys.add(key);
  }
  return [...keys];
}

function mayNowMatch(object: KubeObject, old: KubeObject | undefined): boolean {
  return (
    old === undefined || old.metadata.labels !== object.metadata.labels || controllerOf(old) !== controllerOf(object)
  );
}

function adopters(
  { metadata }: KubeObject,
  { world, ownerType }: { readonly world: LoopWorld; readonly ownerType: ResourceType },
): readonly string[] {
  return world
    .view<ClaimOptions<KubeObject>["owner"]>(ownerType)
    .in(metadata.namespace ?? "")
    .filter(({ spec }) => compileSelector(spec?.selector).matches(metadata.labels))
    .map((owner) => cacheKey(owner.metadata));
}

/** For children, which change in crowds. */
export const settled = { settleMs: 20 } as const;

/** The key of what changed itself. */
export function itself({ object, old }: Change<KubeObject>): readonly string[] {
  return [cacheKey((object ?? (old as KubeObject)).metadata)];
}
