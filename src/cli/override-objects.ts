import type { ManifestDocument } from "../api/manifest/document.ts";
import { apiGroupOf, isKubeObject, namespaceOf } from "../api/object.ts";

/**
 * The objects of a cluster with manifests applied: a manifest replaces the object of the same kind and name. A workload
 * also removes everything the old one owns, so that its new pods are planned instead of the old ones.
 */
export function overrideObjects(
  cluster: readonly ManifestDocument[],
  manifests: readonly ManifestDocument[],
): readonly ManifestDocument[] {
  if (cluster.length === 0 || manifests.length === 0) return [...cluster, ...manifests];
  const given = new Set(manifests.flatMap(({ object }) => objectKeyOf(object) ?? []));
  const gone = withOwnedObjects(given, cluster);
  return [...cluster.filter(({ object }) => !gone.has(objectKeyOf(object) ?? "")), ...manifests];
}

/** The keys and those of everything they own, such as a Deployment's ReplicaSets and their pods. */
export function withOwnedObjects(
  roots: ReadonlySet<string>,
  cluster: readonly ManifestDocument[],
): ReadonlySet<string> {
  const byParent = new Map<string, string[]>();
  for (const { object } of cluster) {
    const own = objectKeyOf(object);
    const parent = controllerKeyOf(object);
    if (own === undefined || parent === undefined) continue;
    const known = byParent.get(parent);
    if (known === undefined) byParent.set(parent, [own]);
    else known.push(own);
  }
  const found = new Set(roots);
  const open = [...roots];
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const child of byParent.get(key) ?? []) {
      if (found.has(child)) continue;
      found.add(child);
      open.push(child);
    }
  }
  return found;
}

const workloads: ReadonlySet<string> = new Set([
  "Deployment",
  "ReplicaSet",
  "StatefulSet",
  "DaemonSet",
  "Job",
  "CronJob",
]);

/** The key of the workload that owns an object. */
export function controllerKeyOf(object: unknown): string | undefined {
  if (!isKubeObject(object)) return undefined;
  const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined || !workloads.has(owner.kind)) return undefined;
  const { apiVersion, kind, name } = owner;
  return objectKeyOf({ apiVersion, kind, metadata: { name, namespace: object.metadata.namespace } });
}

/** Identifies an object in a cluster, whatever its API version. */
export function objectKeyOf(object: unknown): string | undefined {
  if (!isKubeObject(object)) return undefined;
  const { apiVersion, kind, metadata } = object;
  const group = apiGroupOf(apiVersion);
  return metadata.name === undefined ? undefined : `${group}/${kind}/${namespaceOf(metadata)}/${metadata.name}`;
}
