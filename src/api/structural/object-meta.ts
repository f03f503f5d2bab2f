import type { StructuralSchema } from "./schema.ts";

const text: StructuralSchema = { type: "string" };
const time: StructuralSchema = { type: "string", format: "date-time" };
const flag: StructuralSchema = { type: "boolean" };
const textMap: StructuralSchema = { type: "object", additionalProperties: text };
const anything: StructuralSchema = { "x-kubernetes-preserve-unknown-fields": true };

const ownerReference: StructuralSchema = {
  type: "object",
  properties: { apiVersion: text, kind: text, name: text, uid: text, controller: flag, blockOwnerDeletion: flag },
};

/** The `metadata` of every object, whatever the schema of its kind says; other fields are dropped. */
export const objectMetaSchema: StructuralSchema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: { type: "integer", format: "int64" },
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: { type: "integer", format: "int64" },
    labels: textMap,
    annotations: textMap,
    ownerReferences: { type: "array", items: ownerReference },
    finalizers: { type: "array", items: text },
    managedFields: { type: "array", items: anything },
  },
};
