import type { KubeObject } from "../../api/object.ts";
import type { StatusDetails } from "../../kube/kube-error.ts";
import type { Subresource } from "../kinds/served-kind.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** What every write may ask for. */
export interface WriteRequest {
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  /** Warn, unless said otherwise. */
  readonly fieldValidation?: FieldValidation | undefined;
  readonly subresource?: Subresource | undefined;
  /** What the decoder of the body noticed: `duplicate field "spec.replicas"`. Treated like unknown fields. */
  readonly decodingProblems?: readonly string[] | undefined;
}

export interface CreateRequest extends WriteRequest {
  readonly namespace?: string | undefined;
  /** The object a subresource is created on. */
  readonly name?: string | undefined;
}

export interface DeleteRequest {
  readonly dryRun?: boolean | undefined;
  readonly propagation?: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined;
}

export interface NamespacedName {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** An object with warnings for kubectl. */
export interface ApiResponse {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

export interface WriteResponse extends ApiResponse {
  /** Whether the object is new. */
  readonly isNew: boolean;
}

export interface DeleteResponse extends ApiResponse {
  /** False: it stays until its grace period is over and its finalizers are gone. */
  readonly isGone: boolean;
}

/** The `Status` of a request that succeeded and has no object to return. */
export interface SuccessStatus extends KubeObject {
  readonly kind: "Status";
  readonly status: "Success";
  readonly code?: number;
  readonly details?: StatusDetails;
}

export const successStatus: SuccessStatus = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
