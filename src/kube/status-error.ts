import { isRecord } from "../api/object.ts";
import { KubeError, type KubeErrorCode, type KubeStatus, type StatusDetails } from "./kube-error.ts";

/** The reason is more precise than the HTTP status: 409 and 500 have several. */
const codeByReason: Readonly<Record<string, KubeErrorCode>> = {
  BadRequest: "bad-request",
  Unauthorized: "unauthorized",
  Forbidden: "forbidden",
  NotFound: "not-found",
  MethodNotAllowed: "method-not-allowed",
  NotAcceptable: "not-acceptable",
  AlreadyExists: "already-exists",
  Conflict: "conflict",
  Gone: "expired",
  Expired: "expired",
  RequestEntityTooLarge: "too-large",
  UnsupportedMediaType: "unsupported-media-type",
  Invalid: "invalid",
  TooManyRequests: "too-many-requests",
  InternalError: "server-error",
  ServiceUnavailable: "unavailable",
  ServerTimeout: "timeout",
  Timeout: "timeout",
};

const codeByHttpStatus: Readonly<Record<number, KubeErrorCode>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not-found",
  405: "method-not-allowed",
  406: "not-acceptable",
  408: "timeout",
  409: "conflict",
  410: "expired",
  413: "too-large",
  415: "unsupported-media-type",
  422: "invalid",
  429: "too-many-requests",
  501: "not-implemented",
  502: "unavailable", // from proxies and load balancers while the API server is down
  503: "unavailable",
  504: "timeout",
};

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

function codeOf({ reason, code }: KubeStatus): KubeErrorCode {
  const named = reason !== undefined && Object.hasOwn(codeByReason, reason) ? codeByReason[reason] : undefined;
  return named ?? codeByHttpStatus[code] ?? (code >= 400 && code < 500 ? "bad-request" : "server-error");
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
