import { copyJson } from "../../api/json.ts";
import { isRecord, type KubeObject, type OwnerReference } from "../../api/object.ts";

export type JsonObject = Record<string, unknown>;

/** A mutable object on its way into the store. */
export interface ObjectDraft {
  apiVersion: string;
  kind: string;
  metadata: ObjectDraftMetadata;
  spec?: JsonObject;
  status?: JsonObject;
  [field: string]: unknown;
}

export interface ObjectDraftMetadata {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: JsonObject[];
  [field: string]: unknown;
}

/** The record in a field, created if absent. */
export function ensureRecord(parent: JsonObject, field: string): JsonObject {
  const found = parent[field];
  if (isRecord(found)) return found;
  const made: JsonObject = {};
  parent[field] = made;
  return made;
}

/** Sets fields that are absent or "" (Go's zero value). */
export function setDefaults(parent: JsonObject, defaults: Readonly<JsonObject>): void {
  for (const [field, value] of Object.entries(defaults)) {
    if (parent[field] === undefined || parent[field] === "") parent[field] = value;
  }
}

export function draftOf(object: KubeObject): ObjectDraft {
  return copyJson(object) as unknown as ObjectDraft;
}

/** A draft whose metadata can be changed field by field; everything else is shared with the object, however large. */
export function metadataDraftOf(object: KubeObject): ObjectDraft {
  return { ...object, metadata: { ...object.metadata } } as unknown as ObjectDraft;
}
