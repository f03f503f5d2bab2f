import { isRecord } from "../../api/object.ts";
import { formatPath, type Path, type Problem } from "../../api/problem.ts";
import type { ResourceType } from "../../kube/client.ts";
import { KubeError, type KubeErrorCode, type Status, type StatusDetails } from "../../kube/error.ts";

/** The kind of thing a failure speaks of. */
export type Subject = Pick<ResourceType, "group" | "kind" | "plural">;

const answers = {
  "bad-request": { reason: "BadRequest", code: 400 },
  unauthorized: { reason: "Unauthorized", code: 401 },
  forbidden: { reason: "Forbidden", code: 403 },
  "not-found": { reason: "NotFound", code: 404 },
  "method-not-allowed": { reason: "MethodNotAllowed", code: 405 },
  "not-acceptable": { reason: "NotAcceptable", code: 406 },
  "already-exists": { reason: "AlreadyExists", code: 409 },
  conflict: { reason: "Conflict", code: 409 },
  expired: { reason: "Expired", code: 410 },
  "too-large": { reason: "RequestEntityTooLarge", code: 413 },
  "unsupported-media-type": { reason: "UnsupportedMediaType", code: 415 },
  invalid: { reason: "Invalid", code: 422 },
  "too-many-requests": { reason: "TooManyRequests", code: 429 },
  "server-error": { reason: "InternalError", code: 500 },
  "not-implemented": { reason: "NotImplemented", code: 501 },
  unavailable: { reason: "ServiceUnavailable", code: 503 },
  timeout: { reason: "Timeout", code: 504 },
} as const satisfies Record<KubeErrorCode, { reason: string; code: number }>;

/** A refusal as the API says it. */
export function failure(code: KubeErrorCode, message: string, details?: StatusDetails): KubeError {
  const { reason, code: http } = answers[code];
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code: http,
  };
  return new KubeError(code, message, { status });
}

/** `deployments.apps`, or `pods` for the core group. */
export function resourceName({ group, plural }: Pick<Subject, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function about(subject: Subject, name: string): StatusDetails {
  return { name, ...(subject.group === "" ? {} : { group: subject.group }), kind: subject.plural };
}

export function notFound(subject: Subject, name: string): KubeError {
  return failure("not-found", `${resourceName(subject)} "${name}" not found`, about(subject, name));
}

export function noSuchResource(): KubeError {
  return failure("not-found", "the server could not find the requested resource", {});
}

export function alreadyExists(subject: Subject, name: string): KubeError {
  return failure("already-exists", `${resourceName(subject)} "${name}" already exists`, about(subject, name));
}

const modified = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(subject: Subject, name: string, because: string = modified): KubeError {
  const message = `Operation cannot be fulfilled on ${resourceName(subject)} "${name}": ${because}`;
  return failure("conflict", message, about(subject, name));
}

export function forbidden(subject: Subject, name: string, because: string): KubeError {
  return failure("forbidden", `${resourceName(subject)} "${name}" is forbidden: ${because}`, about(subject, name));
}

export function badRequest(message: string): KubeError {
  return failure("bad-request", message);
}

export function notAllowed(subject: Subject, verb: string): KubeError {
  const message = `${verb} is not supported on resources of kind "${resourceName(subject)}"`;
  return failure("method-not-allowed", message, about(subject, ""));
}

export function expired(message: string): KubeError {
  return failure("expired", message);
}

/** One thing wrong, in the words of the API. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

export function required(path: Path, hint = ""): Cause {
  return {
    reason: "FieldValueRequired",
    message: `Required value${hint === "" ? "" : `: ${hint}`}`,
    field: formatPath(path),
  };
}

export function invalidValue(path: Path, value: unknown, because: string): Cause {
  return { reason: "FieldValueInvalid", message: `Invalid value: ${show(value)}: ${because}`, field: formatPath(path) };
}

export function forbiddenField(path: Path, because: string): Cause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${because}`, field: formatPath(path) };
}

export function unsupportedValue(path: Path, value: unknown, supported: readonly string[]): Cause {
  const choices = supported.map((one) => JSON.stringify(one)).join(", ");
  const message = `Unsupported value: ${show(value)}: supported values: ${choices}`;
  return { reason: "FieldValueNotSupported", message, field: formatPath(path) };
}

export function duplicateValue(path: Path, value: unknown): Cause {
  return { reason: "FieldValueDuplicate", message: `Duplicate value: ${show(value)}`, field: formatPath(path) };
}

/** 422, with every cause. */
export function invalid(subject: Subject, name: string, causes: readonly Cause[]): KubeError {
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const text = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  const qualified = subject.group === "" ? subject.kind : `${subject.kind}.${subject.group}`;
  return failure("invalid", `${qualified} "${name}" is invalid: ${text}`, {
    name,
    ...(subject.group === "" ? {} : { group: subject.group }),
    kind: subject.kind,
    causes,
  });
}

/** A problem our validators found, as a cause. */
export function causeOf(problem: Problem, object: unknown): Cause {
  const { code, path, message, expected } = problem;
  if (code === "required") return required(path);
  const full = expected === undefined ? message : `${message}; expected ${expected}`;
  if (code === "duplicate-item") return duplicateValue(path, valueAt(object, path));
  if (code === "enum") {
    const value = show(valueAt(object, path));
    const text = `Unsupported value: ${value}: supported values: ${(expected ?? "").replace(/^one of /, "")}`;
    return { reason: "FieldValueNotSupported", message: text, field: formatPath(path) };
  }
  const reasons: Partial<Record<Problem["code"], string>> = {
    "too-many": "FieldValueTooMany",
    "too-long": "FieldValueTooLong",
    type: "FieldValueTypeInvalid",
  };
  const reason = reasons[code] ?? "FieldValueInvalid";
  return { reason, message: `Invalid value: ${show(valueAt(object, path))}: ${full}`, field: formatPath(path) };
}

function valueAt(object: unknown, path: Path): unknown {
  let value = object;
  for (const step of path) {
    if (typeof step === "number") value = Array.isArray(value) ? value[step] : undefined;
    else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** Objects are named, not printed: a message is for reading. */
function show(value: unknown): string {
  if (value === undefined) return "null";
  if (isRecord(value)) return '"object"';
  if (Array.isArray(value)) return '"array"';
  const text = JSON.stringify(value) ?? "null";
  return text.length > 200 ? `${text.slice(0, 197)}..."` : text;
}
