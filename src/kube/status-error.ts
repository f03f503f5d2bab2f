import { isRecord } from "../api/object.ts";
import { KubeError, type KubeErrorCode, type KubeStatus, type StatusDetails } from "./kube-error.ts";

/** Reason and HTTP status of each code, in a Status. */
export const statusByCode = {
  "bad-request": { reason: "BadRequest", httpStatus: 400 },
  unauthorized: { reason: "Unauthorized", httpStatus: 401 },
  forbidden: { reason: "Forbidden", httpStatus: 403 },
  "not-found": { reason: "NotFound", httpStatus: 404 },
  "method-not-allowed": { reason: "MethodNotAllowed", httpStatus: 405 },
  "not-acceptable": { reason: "NotAcceptable", httpStatus: 406 },
  "already-exists": { reason: "AlreadyExists", httpStatus: 409 },
  conflict: { reason: "Conflict", httpStatus: 409 },
  expired: { reason: "Expired", httpStatus: 410 },
  "too-large": { reason: "RequestEntityTooLarge", httpStatus: 413 },
  "unsupported-media-type": { reason: "UnsupportedMediaType", httpStatus: 415 },
  invalid: { reason: "Invalid", httpStatus: 422 },
  "too-many-requests": { reason: "TooManyRequests", httpStatus: 429 },
  "server-error": { reason: "InternalError", httpStatus: 500 },
  "not-implemented": { reason: "NotImplemented", httpStatus: 501 },
  unavailable: { reason: "ServiceUnavailable", httpStatus: 503 },
  timeout: { reason: "Timeout", httpStatus: 504 },
} as const satisfies Record<KubeErrorCode, { reason: string; httpStatus: number }>;

const codes = Object.keys(statusByCode) as KubeErrorCode[];

const codeByReason: ReadonlyMap<string, KubeErrorCode> = new Map([
  ...codes.map((code) => [statusByCode[code].reason, code] as const),
  ["Gone", "expired"],
  ["ServerTimeout", "timeout"],
]);

/** Of codes with the same status the last one counts: 409 is a conflict. */
const codeByHttpStatus: ReadonlyMap<number, KubeErrorCode> = new Map([
  ...codes.map((code) => [statusByCode[code].httpStatus, code] as const),
  [408, "timeout"],
  [502, "unavailable"], // from proxies and load balancers while the API server is down
]);

export interface ErrorResponse {
  readonly httpStatus: number;
  /** Parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
  /** The Retry-After header; details.retryAfterSeconds of the body takes precedence. */
  readonly retryAfterSeconds?: number | undefined;
  /** The request, for messages of responses without a Status. */
  readonly what: string;
}

/** The error of a non-2xx response of an API server, proxy or load balancer. */
export function errorFromResponse({ httpStatus, body, retryAfterSeconds, what }: ErrorResponse): KubeError {
  const given = isStatus(body) ? body : statusFromText({ httpStatus, body, what });
  const status = retryAfterSeconds === undefined ? given : withRetryAfter(given, retryAfterSeconds);
  return errorFromStatus(status);
}

/** The KubeError of a `Status`. */
export function errorFromStatus(status: KubeStatus): KubeError {
  return new KubeError(codeOf(status), status.message || `the server responded with ${status.code}`, { status });
}

export function isStatus(value: unknown): value is KubeStatus {
  return isRecord(value) && value["kind"] === "Status" && typeof value["code"] === "number";
}

/** The reason is more precise than the HTTP status: 409 and 500 have several. */
function codeOf({ reason = "", code }: KubeStatus): KubeErrorCode {
  const known = codeByReason.get(reason) ?? codeByHttpStatus.get(code);
  return known ?? (code >= 400 && code < 500 ? "bad-request" : "server-error");
}

function statusFromText({ httpStatus, body, what }: ErrorResponse): KubeStatus {
  const text = typeof body === "string" ? body.trim().slice(0, 300) : "";
  const message = `${what}: the server responded with ${httpStatus}${text === "" ? "" : `: ${text}`}`;
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: httpStatus };
}

function withRetryAfter(status: KubeStatus, retryAfterSeconds: number): KubeStatus {
  const details: StatusDetails = { retryAfterSeconds, ...status.details };
  return { ...status, details };
}
