import type { KubeObject } from "../../api/object.ts";
import type { StatusDetails } from "../../kube/kube-error.ts";
import type { Subresource } from "../kinds/served-kind.ts";

type FieldValidation = "Ignore" | "Warn" | "Strict";

/** Options of every write. */
export interface WriteRequest {
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  /** Default: Warn. */
  readonly fieldValidation?: FieldValidation | undefined;
  readonly subresource?: Subresource | undefined;
  /** Problems found while decoding the body, such as `duplicate field "spec.replicas"`. Treated like unknown fields. */
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

/** An object with warnings for kubectl. */
export interface ApiResponse {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

export interface WriteResponse extends ApiResponse {
  /** Whether the object was created. */
  readonly isNew: boolean;
}

export interface DeleteResponse extends ApiResponse {
  /** False while a grace period or finalizers hold it. */
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
