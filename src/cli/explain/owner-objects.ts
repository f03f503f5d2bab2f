import type { Pod } from "../../api/kubernetes/pod.ts";
import { apiGroupOf, type KubeObject, namespaceOf } from "../../api/object.ts";
import {
  controllerOf,
  type FindObject,
  type OwnerKey,
  runtimeClassKeyOf,
} from "../../core/explain/commands/template-owner.ts";
import type { Edit } from "../../core/explain/edit.ts";
import type { ResourceType } from "../../kube/client.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { LiveCluster } from "../live-cluster.ts";

/** Finds objects among those that were read, and the workload that pods were made from for its ReplicaSet or Job. */
export function findAmong(objects: readonly KubeObject[], workloads: readonly KubeObject[] = []): FindObject {
  const byKey = new Map<string, KubeObject>();
  for (const object of [...workloads, ...objects]) byKey.set(keyOf(referenceOf(object)), object);
  const byName = new Map(
    workloads.map((object) => [`${namespaceOf(object.metadata)}/${object.metadata.name}`, object]),
  );
  return (reference) =>
    byKey.get(keyOf(reference)) ??
    (madeKinds.has(reference.kind) ? byName.get(`${reference.namespace}/${reference.name}`) : undefined);
}

/** Kinds that stand between a workload of a file and its pods, but are not in the file. */
const madeKinds: ReadonlySet<string> = new Set(["ReplicaSet", "Job"]);

function referenceOf({ apiVersion, kind, metadata }: KubeObject): OwnerKey {
  return { apiVersion, kind, name: metadata.name ?? "", namespace: metadata.namespace ?? "" };
}

/** Versions do not matter; an object without a namespace may be written without one, or with the default. */
function keyOf({ apiVersion, kind, namespace, name }: OwnerKey): string {
  return `${apiGroupOf(apiVersion)}/${kind}/${namespaceOf({ namespace })}/${name}`;
}

/** The objects that edits are about, and all that pods among them belong to, as the cluster has them. */
export async function readEditedObjects(
  edits: readonly Edit[],
  { kube }: Pick<LiveCluster, "kube">,
): Promise<readonly KubeObject[]> {
  const found = new Map<string, KubeObject>();
  const read = async (reference: OwnerKey | undefined): Promise<void> => {
    if (reference === undefined || found.has(keyOf(reference))) return;
    const object = await readObject(reference, kube);
    if (object === undefined) return;
    found.set(keyOf(reference), object);
    await read(controllerOf(object.metadata));
    await read(workloadReference(object));
    if (object.kind === "Pod") await read(runtimeClassKeyOf((object as KubeObject & Pod).spec));
  };
  for (const { object } of edits) {
    const type = [...Object.values(builtInTypes), ...Object.values(karpenterTypes)].find(
      ({ kind }) => kind === object.kind,
    );
    if (type !== undefined)
      await read({
        apiVersion: versionOf(type),
        kind: object.kind,
        name: object.name,
        namespace: object.namespace ?? "",
      });
  }
  return [...found.values()];
}

/** The Deployment a Rollout leaves its template to. */
function workloadReference({ spec, metadata }: KubeObject): OwnerKey | undefined {
  const named = (spec as { readonly workloadRef?: Partial<OwnerKey> } | undefined)?.workloadRef;
  if (named?.apiVersion === undefined || named.kind === undefined || named.name === undefined) return undefined;
  return { apiVersion: named.apiVersion, kind: named.kind, name: named.name, namespace: namespaceOf(metadata) };
}

function versionOf({ group, version }: ResourceType): string {
  return group === "" ? version : `${group}/${version}`;
}

/** Undefined where it is gone or may not be read: then the explanation has edits in place of commands. */
async function readObject(reference: OwnerKey, kube: LiveCluster["kube"]): Promise<KubeObject | undefined> {
  const type = resourceTypeOf(reference);
  try {
    const { items } = await kube.list<KubeObject>(type, {
      ...(type.namespaced && { namespace: namespaceOf(reference) }),
      fieldSelector: `metadata.name=${reference.name}`,
    });
    const [item] = items;
    return item && { ...item, apiVersion: reference.apiVersion, kind: reference.kind };
  } catch {
    return undefined;
  }
}

function resourceTypeOf({ apiVersion, kind, namespace }: OwnerKey): ResourceType {
  const group = apiGroupOf(apiVersion);
  const known = [...Object.values(builtInTypes), ...Object.values(karpenterTypes)].find(
    (type) => type.kind === kind && type.group === group,
  );
  if (known !== undefined) return known;
  const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
  return { group, version, kind, plural: pluralOf(kind.toLowerCase()), namespaced: namespace !== "" };
}

/** As API conventions form plurals. */
function pluralOf(word: string): string {
  if (/(s|x|z|ch|sh)$/.test(word)) return `${word}es`;
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}
