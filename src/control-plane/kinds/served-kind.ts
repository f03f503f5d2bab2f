import type { FieldSchema } from "../../api/kubernetes/field-schema.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { Random } from "../../util/random.ts";
import type { StatusCause } from "../api/api-errors.ts";
import type { DecodedFields } from "./decode-fields.ts";
import type { ObjectDraft } from "./object-draft.ts";

export const subresources = [
  "status",
  "scale",
  "eviction",
  "binding",
  "log",
  "finalize",
  "approval",
  "token",
  "resize",
  "ephemeralcontainers",
] as const;
export type Subresource = (typeof subresources)[number];

export const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;
export type Verb = (typeof verbs)[number];

/** A kind as the server answers for it, in one version. */
export interface ServedKind extends ResourceType {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly verbs: readonly Verb[];
  /** Where its objects are kept; kinds that are one thing in two versions share this. */
  readonly storage: string;
  /** What it looks like. */
  readonly fields: FieldSchema;
  /** Field selectors it knows beside `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
  readonly behaviour: KindBehaviour;
  /** How it is told from the version in the store, where they differ. */
  readonly conversion?: KindConversion;
  /** Where its replica counts are, if it has the scale subresource. */
  readonly scale?: ScaleFields;
  /** Said to whoever uses this version. */
  readonly deprecation?: string;
  /** For custom kinds: how kubectl shows them, and the schema they came with. */
  readonly custom?: CustomKindDetails;
}

export interface CustomKindDetails {
  /** The name of its CustomResourceDefinition. */
  readonly definition: string;
  readonly columns: readonly CustomResourceColumn[];
  readonly schema: Readonly<Record<string, unknown>>;
}

/** A printer column of a CustomResourceDefinition. */
export interface CustomResourceColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** Dotted paths, without a leading dot. */
export interface ScaleFields {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** Text of a label selector, or a LabelSelector. */
  readonly selector?: string;
}

/** What a conversion made of an object, and what it has to say about it. */
export interface KindConversionResult {
  readonly object: unknown;
  readonly warnings: readonly string[];
  /** Objects that have to be written beside it. */
  readonly additionalObjects?: readonly unknown[];
}

export interface KindConversion {
  /** From what a client sent; throws a `KubeError` where it cannot be. */
  toStored(object: unknown): KindConversionResult;
  /** Undefined: this version cannot be read. */
  fromStored?: (object: KubeObject) => KindConversionResult;
}

/** What of the rest of the cluster admission may look at. */
export interface AdmissionContext {
  readonly now: number;
  readonly random: Random;
  get(storage: string, name: string, namespace?: string): KubeObject | undefined;
  list(storage: string, namespace?: string): readonly KubeObject[];
}

/** What is particular to a kind when it is written. */
export interface KindBehaviour {
  /** Reads what a client sent: a fresh copy. */
  decode(object: unknown): DecodedFields;
  /** Whether `metadata.generation` counts changes of anything but metadata and status. */
  readonly countsGenerations: boolean;
  /** Its status belongs to the status subresource alone. */
  readonly hasStatus: boolean;
  /** A status sent with a create stays: kubelets register nodes that way. */
  readonly keepsStatusOnCreate?: boolean;
  /** Updates must say which version they replace. */
  readonly needsVersionToUpdate?: boolean;
  /** The status subresource also takes labels and annotations, as it does for built-in kinds. */
  readonly statusCarriesMetadata?: boolean;
  readonly nameStyle: "subdomain" | "label" | "path";
  /** Fills in what was left out; on every write. */
  defaults?(draft: ObjectDraft, context: AdmissionContext): void;
  /** Once, before the first defaults: what admission adds on create. May throw a `KubeError`. */
  admitCreate?(draft: ObjectDraft, context: AdmissionContext): void;
  prepareCreate?(draft: ObjectDraft, context: AdmissionContext): void;
  prepareUpdate?(draft: ObjectDraft, old: KubeObject, context: AdmissionContext): void;
  /** Completes and judges a new status, where that can be done without looking at the rest; else all is validated. */
  updateStatus?(draft: ObjectDraft, old: KubeObject): readonly StatusCause[];
  /** What is wrong with it; `old` on update. May finish the object where the schema has defaults. */
  validate(draft: ObjectDraft, old: KubeObject | undefined): ValidationResult;
  /** Warnings worth saying on every write. */
  warnings?(draft: ObjectDraft): readonly string[];
  /** For kinds that are answered and never stored. */
  answer?(draft: ObjectDraft): void;
}

export interface ValidationResult {
  readonly draft: ObjectDraft;
  readonly causes: readonly StatusCause[];
}
