import type { LaunchReason } from "../api/conditions/node-claim.ts";

/** Why a cloud refuses; callers switch on it. (02 §7) */
const cloudErrorCodes = [
  /** The instance does not exist. */
  "not-found",
  /** No suitable offering is available now; another request may succeed. */
  "insufficient-capacity",
  /** The node class cannot be launched from. */
  "node-class-not-ready",
  /** The launch failed for a reason a person should read; it may succeed later. */
  "create-failed",
  /** NodeOverlays of the pool are being evaluated: retry soon. (02:O-8) */
  "unevaluated",
] as const;
export type CloudErrorCode = (typeof cloudErrorCodes)[number];

const messagePrefixes: Readonly<Record<CloudErrorCode, string>> = {
  "not-found": "nodeclaim not found, ",
  "insufficient-capacity": "insufficient capacity, ",
  "node-class-not-ready": "NodeClassRef not ready, ",
  "create-failed": "creating nodeclaim, ",
  unevaluated: "",
};

/** An expected refusal of a cloud. Any other error is unexpected. */
export class CloudError extends Error {
  readonly code: CloudErrorCode;
  /** For `create-failed`: what `Launched` says. (01 §2.5) */
  readonly reason: LaunchReason | undefined;
  /** Without the prefix: what a condition shows. */
  readonly detail: string;

  constructor(
    code: CloudErrorCode,
    detail: string,
    options: { readonly reason?: LaunchReason; readonly cause?: unknown } = {},
  ) {
    super(`${messagePrefixes[code]}${detail}`, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "CloudError";
    this.code = code;
    this.detail = detail;
    this.reason = options.reason;
  }
}

/** Also finds it in causes and AggregateErrors. (02 §7) */
export function isCloudError(error: unknown, ...codes: readonly CloudErrorCode[]): boolean {
  return cloudErrorOf(error, ...codes) !== undefined;
}

/** The refusal inside an error, if there is one. */
export function cloudErrorOf(error: unknown, ...codes: readonly CloudErrorCode[]): CloudError | undefined {
  if (error instanceof CloudError && (codes.length === 0 || codes.includes(error.code))) return error;
  if (error instanceof AggregateError) {
    for (const inner of error.errors) {
      const found = cloudErrorOf(inner, ...codes);
      if (found !== undefined) return found;
    }
  }
  return error instanceof Error && error.cause !== undefined ? cloudErrorOf(error.cause, ...codes) : undefined;
}
