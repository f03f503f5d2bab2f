import type { Pod } from "../../../api/kubernetes/pod.ts";
import { isRecord, type KubeObject, namespaceOf, type ObjectMeta } from "../../../api/object.ts";
import type { PatchPath } from "../json-patch.ts";

/** Which object is meant; the namespace of objects without one is empty. */
export interface OwnerKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Undefined where there is no such object, or it cannot be read. */
export type FindObject = (reference: OwnerKey) => KubeObject | undefined;

/** The object a person edits to change a pod, and where the pod's template is in it. */
export interface TemplateOwner {
  readonly object: KubeObject;
  /** Empty for a pod that nobody controls. */
  readonly path: PatchPath;
  /** What lies between it and the pod, the pod's controller first. */
  readonly between: readonly KubeObject[];
  /** A controller above it that has no template of its own: it may undo a change. */
  readonly manager?: OwnerKey;
}

/** The controller of an object. */
export function controllerOf(metadata: ObjectMeta): OwnerKey | undefined {
  const found = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (found === undefined) return undefined;
  return { apiVersion: found.apiVersion, kind: found.kind, name: found.name, namespace: namespaceOf(metadata) };
}

/** A guard against owners in a circle. */
const maxOwners = 8;

/** The topmost controller with a template of the pod: the Deployment, not its ReplicaSet. Undefined where it is not known. */
export function templateOwnerOf(pod: Pod, podObject: KubeObject, find: FindObject): TemplateOwner | undefined {
  let next = controllerOf(pod.metadata);
  if (next === undefined) return { object: podObject, path: [], between: [] };
  const chain: KubeObject[] = [];
  let best: Omit<TemplateOwner, "manager"> | undefined;
  let above: KubeObject | undefined; // of the best
  while (next !== undefined && chain.length < maxOwners) {
    const object = find(next);
    if (object === undefined) break;
    const holder = templateHolder(object, find);
    const path = podTemplatePath(holder, pod);
    if (path !== undefined) best = { object: holder, path, between: [...chain] };
    above = path === undefined ? object : undefined;
    chain.push(object);
    next = controllerOf(object.metadata);
  }
  if (best === undefined) return undefined;
  const manager = above === undefined ? next : ownerKeyOf(above);
  return { ...best, ...(manager && { manager }) };
}

/** A Rollout may leave its template to a Deployment. */
function templateHolder(object: KubeObject, find: FindObject): KubeObject {
  const named = isRecord(object.spec) ? object.spec["workloadRef"] : undefined;
  if (!isRecord(named)) return object;
  const [apiVersion, kind, name] = [named["apiVersion"], named["kind"], named["name"]].map(String);
  if (apiVersion === undefined || kind === undefined || name === undefined) return object;
  return find({ apiVersion, kind, name, namespace: namespaceOf(object.metadata) }) ?? object;
}

export function ownerKeyOf({ apiVersion, kind, metadata }: KubeObject): OwnerKey {
  return { apiVersion, kind, name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
}

/** The RuntimeClass that a pod names. */
export function runtimeClassKeyOf({ runtimeClassName = "" }: Pod["spec"]): OwnerKey | undefined {
  if (runtimeClassName === "") return undefined;
  return { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", namespace: "", name: runtimeClassName };
}

const maxDepth = 8;

/** Where the object has a pod template with the pod's containers; the one nearest to its root. */
function podTemplatePath({ spec }: KubeObject, pod: Pod): PatchPath | undefined {
  const names = new Set((pod.spec.containers ?? []).map(({ name }) => name));
  let level: readonly { readonly value: unknown; readonly path: PatchPath }[] = [{ value: spec, path: ["spec"] }];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    const found = level.find(({ value }) => isTemplateWith(value, names));
    if (found !== undefined) return found.path;
    level = level.flatMap(({ value, path }) =>
      membersOf(value).map(([key, one]) => ({ value: one, path: [...path, key] })),
    );
  }
  return undefined;
}

function isTemplateWith(value: unknown, names: ReadonlySet<string | undefined>): boolean {
  const containers = isRecord(value) && isRecord(value["spec"]) ? value["spec"]["containers"] : undefined;
  return (
    Array.isArray(containers) &&
    containers.length > 0 &&
    containers.every((one) => isRecord(one) && names.has(one["name"] as string))
  );
}

function membersOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  return isRecord(value) ? Object.entries(value) : [];
}
