import type { ManifestDocument } from "../manifest/document.ts";
import { isRecord } from "../object.ts";

/** What an API server writes into metadata; it belongs to the stored object, not to a manifest. */
const serverMetadata = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
] as const;
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
const karpenterGroups = /^(?:[\w.-]+\.)?karpenter(?:\.[\w.-]+)?\/|^autoscaling\.x-k8s\.io\//;

/** The document without what only a server writes, status included; the same one if there is nothing of it. (01 §7) */
export function withoutServerFields(document: ManifestDocument): ManifestDocument {
  const { object } = document;
  if (!isRecord(object) || !karpenterGroups.test(String(object["apiVersion"] ?? ""))) return document;
  const { status, metadata, ...rest } = object;
  const kept = isRecord(metadata) ? keptMetadata(metadata) : metadata;
  if (status === undefined && kept === metadata) return document;
  // In the order of the source, so that it is written in that order.
  const keys = Object.keys(object).filter((key) => key !== "status");
  const all: Readonly<Record<string, unknown>> = { ...rest, metadata: kept };
  return { ...document, object: Object.fromEntries(keys.map((key) => [key, all[key]])), text: undefined };
}

function keptMetadata(metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { annotations } = metadata;
  const hasLastApplied = isRecord(annotations) && Object.hasOwn(annotations, lastApplied);
  if (!hasLastApplied && !serverMetadata.some((key) => Object.hasOwn(metadata, key))) return metadata;
  return Object.fromEntries(
    Object.entries(metadata).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
      if ((serverMetadata as readonly string[]).includes(key)) return [];
      if (key !== "annotations" || !hasLastApplied) return [[key, value]];
      const own = Object.entries(annotations).filter(([name]) => name !== lastApplied);
      return own.length === 0 ? [] : [[key, Object.fromEntries(own)]];
    }),
  );
}
