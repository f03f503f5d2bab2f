import { isRecord } from "../../api/object.ts";
import { type FieldPath, formatPath, type Problem } from "../../api/problem.ts";
import type { ResourceType } from "../../kube/client.ts";
import { KubeError, type KubeErrorCode, type KubeStatus, type StatusDetails } from "../../kube/kube-error.ts";
import { statusByCode } from "../../kube/status-error.ts";

/** The resource an error names. */
export type QualifiedResource = Pick<ResourceType, "group" | "kind" | "plural">;

/** A KubeError with its Status. */
export function apiError(code: KubeErrorCode, message: string, details?: StatusDetails): KubeError {
  const { reason, httpStatus } = statusByCode[code];
  const status: KubeStatus = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code: httpStatus,
  };
  return new KubeError(code, message, { status });
}

/** `deployments.apps`, or `pods` for the core group. */
export function resourceName({ group, plural }: Pick<QualifiedResource, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function detailsOf(resource: QualifiedResource, name: string): StatusDetails {
  return { name, ...(resource.group === "" ? {} : { group: resource.group }), kind: resource.plural };
}

export function notFound(resource: QualifiedResource, name: string): KubeError {
  return apiError("not-found", `${resourceName(resource)} "${name}" not found`, detailsOf(resource, name));
}

export function noSuchResource(): KubeError {
  return apiError("not-found", "the server could not find the requested resource", {});
}

export function alreadyExists(resource: QualifiedResource, name: string): KubeError {
  return apiError("already-exists", `${resourceName(resource)} "${name}" already exists`, detailsOf(resource, name));
}

const modifiedMessage = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(resource: QualifiedResource, name: string, because: string = modifiedMessage): KubeError {
  const message = `Operation cannot be fulfilled on ${resourceName(resource)} "${name}": ${because}`;
  return apiError("conflict", message, detailsOf(resource, name));
}

export function forbidden(resource: QualifiedResource, name: string, because: string): KubeError {
  return apiError(
    "forbidden",
    `${resourceName(resource)} "${name}" is forbidden: ${because}`,
    detailsOf(resource, name),
  );
}

export function badRequest(message: string): KubeError {
  return apiError("bad-request", message);
}

/** None of the media types the client accepts is among these. */
export function notAcceptable(mediaTypes: readonly string[]): KubeError {
  return apiError("not-acceptable", `only the following media types are accepted: ${mediaTypes.join(", ")}`);
}

export function methodNotAllowed(): KubeError {
  return apiError("method-not-allowed", "the server does not allow this method on the requested resource");
}

export function methodNotSupported(resource: QualifiedResource, verb: string): KubeError {
  const message = `${verb} is not supported on resources of kind "${resourceName(resource)}"`;
  return apiError("method-not-allowed", message, detailsOf(resource, ""));
}

export function expiredVersion(message: string): KubeError {
  return apiError("expired", message);
}

/** One invalid field, as in Status.details.causes. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

export function requiredValue(path: FieldPath, hint = ""): StatusCause {
  return {
    reason: "FieldValueRequired",
    message: `Required value${hint === "" ? "" : `: ${hint}`}`,
    field: formatPath(path),
  };
}

export function invalidValue(path: FieldPath, value: unknown, because: string): StatusCause {
  return {
    reason: "FieldValueInvalid",
    message: `Invalid value: ${showValue(value)}: ${because}`,
    field: formatPath(path),
  };
}

export function forbiddenField(path: FieldPath, because: string): StatusCause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${because}`, field: formatPath(path) };
}

export function unsupportedValue(path: FieldPath, value: unknown, supported: readonly string[]): StatusCause {
  const choices = supported.map((one) => JSON.stringify(one)).join(", ");
  const message = `Unsupported value: ${showValue(value)}: supported values: ${choices}`;
  return { reason: "FieldValueNotSupported", message, field: formatPath(path) };
}

/** The path is given as Kubernetes writes it: `[]` is the whole object. */
export function tooLong(field: string, maxBytes: number): StatusCause {
  return { reason: "FieldValueTooLong", message: `Too long: may not be more than ${maxBytes} bytes`, field };
}

export function duplicateValue(path: FieldPath, value: unknown): StatusCause {
  return { reason: "FieldValueDuplicate", message: `Duplicate value: ${showValue(value)}`, field: formatPath(path) };
}

/** 422 Invalid, with all causes. */
export function invalidObject(resource: QualifiedResource, name: string, causes: readonly StatusCause[]): KubeError {
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  const qualified = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
  return apiError("invalid", `${qualified} "${name}" is invalid: ${text}`, {
    name,
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind: resource.kind,
    causes,
  });
}

/** Converts a Problem of our validators. */
export function causeOf(problem: Problem, object: unknown): StatusCause {
  const { code, path, message, expected } = problem;
  if (code === "required") return requiredValue(path);
  const full = expected === undefined ? message : `${message}; expected ${expected}`;
  if (code === "duplicate-item") return duplicateValue(path, valueAt(object, path));
  if (code === "enum") {
    const value = showValue(valueAt(object, path));
    const text = `Unsupported value: ${value}: supported values: ${(expected ?? "").replace(/^one of /, "")}`;
    return { reason: "FieldValueNotSupported", message: text, field: formatPath(path) };
  }
  const reasons: Partial<Record<Problem["code"], string>> = {
    "too-many": "FieldValueTooMany",
    "too-long": "FieldValueTooLong",
    type: "FieldValueTypeInvalid",
  };
  const reason = reasons[code] ?? "FieldValueInvalid";
  return { reason, message: `Invalid value: ${showValue(valueAt(object, path))}: ${full}`, field: formatPath(path) };
}

function valueAt(object: unknown, path: FieldPath): unknown {
  let value = object;
  for (const step of path) {
    if (typeof step === "number") value = Array.isArray(value) ? value[step] : undefined;
    else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** Objects and lists are only named, to keep messages short. */
function showValue(value: unknown): string {
  if (value === undefined) return "null";
  if (isRecord(value)) return '"object"';
  if (Array.isArray(value)) return '"array"';
  const text = JSON.stringify(value) ?? "null";
  return text.length > 200 ? `${text.slice(0, 197)}..."` : text;
}
