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

/** A kind in one version, as the server serves it. */
export interface ServedKind extends ResourceType {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly verbs: readonly Verb[];
  /** The storage name; versions of one kind share it. */
  readonly storage: string;
  /** Its fields. */
  readonly fields: FieldSchema;
  /** Supported field selectors besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
  readonly behaviour: KindBehaviour;
  /** Conversion to and from the stored version; absent for the stored version. */
  readonly conversion?: KindConversion;
  /** The paths of its replica counts, if it has the scale subresource. */
  readonly scale?: ScaleFields;
  /** The warning for users of this version. */
  readonly deprecation?: string;
  /** Printer columns and schema of custom kinds. */
  readonly custom?: CustomKindDetails;
}

interface CustomKindDetails {
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

/** A converted object with warnings. */
export interface KindConversionResult {
  readonly object: unknown;
  readonly warnings: readonly string[];
  /** Further objects the conversion produced. */
  readonly additionalObjects?: readonly unknown[];
}

export interface KindConversion {
  /** Converts what a client sent; throws a `KubeError` if that is impossible. */
  toStored(object: unknown): KindConversionResult;
  /** Undefined: this version cannot be read. */
  fromStored?: (object: KubeObject) => KindConversionResult;
}

/** What admission may read of the rest of the cluster. */
export interface AdmissionContext {
  readonly now: number;
  readonly random: Random;
  get(storage: string, name: string, namespace?: string): KubeObject | undefined;
  list(storage: string, namespace?: string): readonly KubeObject[];
  /** Whether a built-in kind of the group has this name or plural; custom resources may not take it. */
  isBuiltIn(group: string, name: string): boolean;
}

/** What reviews are answered from. */
export interface ReviewContext extends AdmissionContext {
  /** Whose a token is; undefined: nobody's, or not for these audiences. */
  userOfToken(
    token: string,
    audiences: readonly string[],
  ): { readonly user: object; readonly audiences: readonly string[] } | undefined;
}

/** What is particular to a kind when it is written. */
export interface KindBehaviour {
  /** Decodes what a client sent into a copy. */
  decode(object: unknown): DecodedFields;
  /** Whether `metadata.generation` counts changes of anything but metadata and status. */
  readonly countsGenerations: boolean;
  /** Its status can be written through the status subresource only. */
  readonly hasStatus: boolean;
  /** A status sent with a create stays: kubelets register nodes that way. */
  readonly keepsStatusOnCreate?: boolean;
  /** Updates must give a resourceVersion. */
  readonly needsVersionToUpdate?: boolean;
  /** The status subresource also takes labels and annotations, as it does for built-in kinds. */
  readonly statusCarriesMetadata?: boolean;
  readonly nameStyle: "subdomain" | "label" | "path";
  /** Sets defaults, on every write. */
  defaults?(draft: ObjectDraft, context: AdmissionContext): void;
  /** Admission on create, before defaults. May throw a `KubeError`. */
  admitCreate?(draft: ObjectDraft, context: AdmissionContext): void;
  prepareCreate?(draft: ObjectDraft, context: AdmissionContext): void;
  prepareUpdate?(draft: ObjectDraft, old: KubeObject, context: AdmissionContext): void;
  /** Completes and checks a new status without validating the whole object; absent: the whole object is validated. */
  updateStatus?(draft: ObjectDraft, old: KubeObject): readonly StatusCause[];
  /** Validates it; `old` on update. May complete the object by schema defaults. */
  validate(draft: ObjectDraft, old: KubeObject | undefined): ValidationResult;
  /** Warnings returned on every write. */
  warnings?(draft: ObjectDraft): readonly string[];
  /** Fills in the response of kinds that are never stored (reviews). */
  answer?(draft: ObjectDraft, context: ReviewContext): void;
}

interface ValidationResult {
  readonly draft: ObjectDraft;
  readonly causes: readonly StatusCause[];
}
