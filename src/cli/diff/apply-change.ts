import { labels } from "../../api/labels.ts";
import type { ManifestDocument } from "../../api/manifest/document.ts";
import { isKubeObject, isRecord, type KubeObject, namespaceOf } from "../../api/object.ts";
import { nodeClassKinds, scenarioKind } from "../../core/scenario/scenario-kind.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import { objectKeyOf, withOwnedObjects } from "../override-objects.ts";
import { objectDocument } from "../snapshot/snapshot-file.ts";
import { scaledPods } from "./scaled-pods.ts";

/** What shall become different. */
export interface Change {
  /** Objects to apply. */
  readonly applied: readonly ManifestDocument[];
  /** Objects to delete. */
  readonly deleted: readonly KubeObject[];
}

/** One object of the change. */
export interface ChangedObject {
  readonly change: "added" | "changed" | "deleted" | "unchanged";
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface ChangedDocuments {
  readonly documents: readonly ManifestDocument[];
  readonly objects: readonly ChangedObject[];
}

/** The documents of a cluster after a change; objects keep their place, so that nothing else is planned differently. */
export function applyChange(
  base: readonly ManifestDocument[],
  { applied, deleted }: Change,
  { nowMs }: { readonly nowMs: number },
): ChangedDocuments {
  const given = new Map(applied.map((document) => [keyOf(document), document]));
  const known = new Map(base.map((document) => [keyOf(document), document]));
  const kept = base.flatMap((document) => given.get(keyOf(document)) ?? document);
  const added = applied.filter((document) => !known.has(keyOf(document)));
  const scaled = scaledPods(base, given, { nowMs });
  const remade = withOwnedObjects(new Set([...given.keys()].filter((key) => !scaled.sameTemplates.has(key))), base);
  const gone = new Set([...remade, ...scaled.removed].filter((key) => !given.has(key)));
  const all = [...kept.filter((document) => !gone.has(keyOf(document))), ...scaled.added, ...added];
  return {
    documents: deleted.reduce<readonly ManifestDocument[]>(
      (documents, object) => withoutObject(object, documents, nowMs),
      all,
    ),
    objects: [
      ...applied.map(({ object }) => changedObject(object, known.get(objectKeyOf(object) ?? "")?.object)),
      ...deleted.map((object): ChangedObject => ({ change: "deleted", ...nameOf(object) })),
    ],
  };
}

function keyOf({ object }: ManifestDocument): string {
  return objectKeyOf(object) ?? "";
}

function changedObject(object: unknown, before: unknown): ChangedObject {
  const named = isKubeObject(object) ? nameOf(object) : { kind: "?", name: "?" };
  if (before === undefined) return { change: "added", ...named };
  return { change: canonicalJson(before) === canonicalJson(object) ? "unchanged" : "changed", ...named };
}

function nameOf({ kind, metadata }: KubeObject): Omit<ChangedObject, "change"> {
  const { namespace, name = metadata.generateName ?? "" } = metadata;
  return { kind, ...(namespace !== undefined && { namespace }), name };
}

/** As a cluster would delete it: what others wait for is being deleted, everything else is gone with what it owns. */
function withoutObject(
  object: KubeObject,
  documents: readonly ManifestDocument[],
  nowMs: number,
): readonly ManifestDocument[] {
  const kind = scenarioKind(object);
  const { name = "" } = object.metadata;
  if (kind !== undefined && (nodeClassKinds.has(kind) || kind === "NodeClaim" || kind === "Node")) {
    return markDeleting(documents, belongsTo(object), nowMs);
  }
  const own = objectKeyOf(object) ?? "";
  if (kind === "NodePool") {
    const isOfPool = (one: KubeObject): boolean =>
      objectKeyOf(one) === own ||
      (scenarioKind(one) === "NodeClaim" && one.metadata.labels?.[labels.nodePool] === name);
    return markDeleting(documents, isOfPool, nowMs);
  }
  const gone = withOwnedObjects(new Set([own]), documents);
  return documents.filter(
    (document) => !gone.has(keyOf(document)) && !(kind === "Namespace" && isInNamespace(document, name)),
  );
}

function isInNamespace({ object }: ManifestDocument, namespace: string): boolean {
  if (!isKubeObject(object)) return false;
  const { metadata } = object;
  return metadata.namespace !== undefined && namespaceOf(metadata) === namespace;
}

/** The object itself; a Node goes with its claim and a claim with its Node. */
function belongsTo(object: KubeObject): (one: KubeObject) => boolean {
  const own = objectKeyOf(object);
  const ids = nodeIds(object);
  return (one) => objectKeyOf(one) === own || (ids.size > 0 && [...nodeIds(one)].some((id) => ids.has(id)));
}

/** What a Node and its claim have in common: a provider id, or the name of the Node. */
function nodeIds(object: KubeObject): ReadonlySet<string> {
  const kind = scenarioKind(object);
  if (kind !== "Node" && kind !== "NodeClaim") return new Set();
  const text = (value: unknown, field: string): string => {
    const found = isRecord(value) ? value[field] : undefined;
    return typeof found === "string" ? found : "";
  };
  const id = kind === "Node" ? text(object.spec, "providerID") : text(object.status, "providerID");
  const name = (kind === "NodeClaim" ? text(object.status, "nodeName") : "") || (object.metadata.name ?? "");
  return new Set([...(id === "" ? [] : [`id ${id}`]), `name ${name}`]);
}

/** Sets the deletion timestamp: something still holds such objects, and their pods are planned elsewhere. */
export function markDeleting(
  documents: readonly ManifestDocument[],
  isMeant: (object: KubeObject) => boolean,
  nowMs: number,
): readonly ManifestDocument[] {
  return documents.map((document) => {
    const { object, source } = document;
    if (!isKubeObject(object) || !isMeant(object) || object.metadata.deletionTimestamp !== undefined) return document;
    const metadata = { ...object.metadata, deletionTimestamp: rfc3339(nowMs) };
    return objectDocument({ ...object, metadata }, source);
  });
}
