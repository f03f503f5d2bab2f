import * as z from "zod";
import type { DeepReadonly, ObjectMeta } from "../object.ts";
import type { CelRule } from "../structural/schema.ts";
import { schemaPatterns } from "./patterns.ts";

/** Helpers for writing the zod schemas of our kinds; `.meta` holds what only a CRD can express. */

/** JSON Schema keywords that zod does not have, or patterns that must be RE2 rather than JavaScript. */
export interface SchemaMeta {
  readonly description?: string;
  readonly pattern?: string;
  readonly format?: string;
  readonly maxProperties?: number;
  readonly maxLength?: number;
  readonly type?: string;
  readonly default?: unknown;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-validations"?: readonly CelRule[];
}

/** Attaches meta and keeps the exact type. */
export function withMeta<T extends z.ZodType>(schema: T, extra: SchemaMeta): T {
  return schema.meta({ ...extra });
}

export function celRules(...list: readonly CelRule[]): Pick<SchemaMeta, "x-kubernetes-validations"> {
  return { "x-kubernetes-validations": list };
}

export const atomicList = { "x-kubernetes-list-type": "atomic" } as const;

export function stringField(description: string, extra: SchemaMeta = {}) {
  return withMeta(z.string(), { description, ...extra });
}

export function enumField<const Values extends readonly string[]>(description: string, values: Values) {
  return withMeta(z.enum(values), { description });
}

export function objectField<Shape extends z.ZodRawShape>(description: string, shape: Shape, extra: SchemaMeta = {}) {
  return withMeta(z.object(shape), { description, ...extra });
}

export function objectListField<Shape extends z.ZodRawShape>(
  description: string,
  shape: Shape,
  { max, ...extra }: SchemaMeta & { readonly max?: number } = {},
) {
  const list = z.array(z.object(shape));
  return withMeta(max === undefined ? list : list.max(max), { description, ...extra });
}

export function booleanField(description: string) {
  return withMeta(z.boolean(), { description });
}

export function int32Field(description: string, schema: z.ZodNumber = z.number()) {
  return withMeta(schema.int(), { description, format: "int32" });
}

export function int64Field(description: string, schema: z.ZodNumber = z.number()) {
  return withMeta(schema.int(), { description, format: "int64" });
}

export function stringMapField(description: string, extra: SchemaMeta = {}) {
  return withMeta(z.record(z.string(), z.string()), { description, ...extra });
}

const quantityField = withMeta(z.union([z.number(), z.string()]), {
  pattern: schemaPatterns.quantity,
  "x-kubernetes-int-or-string": true,
});

export function resourceListField(description: string, extra: SchemaMeta = {}) {
  return withMeta(z.record(z.string(), quantityField), { description, ...extra });
}

export function dateTimeField(description: string) {
  return withMeta(z.string(), { format: "date-time", description });
}

const metadata = withMeta(z.custom<ObjectMeta>(), { type: "object" });

/** An object with the fields all kinds share around spec and status. */
export function objectSchema<Spec extends z.ZodType, Status extends z.ZodType>(
  parts: { readonly spec: Spec; readonly status: Status },
  extra: SchemaMeta,
) {
  const shared = {
    apiVersion: stringField("The versioned schema this object is written in.").optional(),
    kind: stringField("The kind of this object.").optional(),
    metadata: metadata.optional(),
  };
  return withMeta(z.object({ ...shared, ...parts }), extra);
}

/** An object as a whole: with apiVersion, kind and metadata, deeply readonly. */
export type Stored<Wire> = DeepReadonly<Wire & { apiVersion: string; kind: string; metadata: ObjectMeta }>;
