/** Error codes of the API, as a closed set callers switch on. */
export type KubeErrorCode =
  | "bad-request"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "method-not-allowed"
  | "not-acceptable"
  | "already-exists"
  | "conflict"
  | "expired"
  | "too-large"
  | "unsupported-media-type"
  | "invalid"
  | "too-many-requests"
  | "server-error"
  | "not-implemented"
  | "unavailable"
  | "timeout";

/** The `Status` of a refused request. */
export interface KubeStatus {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status: "Failure";
  readonly message: string;
  readonly reason?: string;
  readonly code: number;
  readonly details?: StatusDetails;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly { readonly reason?: string; readonly message: string; readonly field?: string }[];
  readonly retryAfterSeconds?: number;
}

const maxRetryAfterMs = 60_000;

/** A request the API server refused or did not answer. */
export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly code: KubeErrorCode;
  /** The Status the server returned; absent where the server was not reached. */
  readonly status: KubeStatus | undefined;

  constructor(
    code: KubeErrorCode,
    message: string,
    options: { readonly status?: KubeStatus; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status;
  }

  /** When the server wants to be asked again; at most a minute, because it may have asked for a thousand years. */
  get retryAfterMs(): number | undefined {
    const seconds: unknown = this.status?.details?.retryAfterSeconds;
    if (typeof seconds !== "number" || !(seconds >= 0)) return undefined;
    return Math.min(seconds * 1000, maxRetryAfterMs);
  }
}

export function isKubeError(error: unknown, ...codes: readonly KubeErrorCode[]): error is KubeError {
  return error instanceof KubeError && (codes.length === 0 || codes.includes(error.code));
}

/** The answer of a call, or undefined if it fails with one of these codes. */
export async function ignoreKubeErrors<T>(
  call: Promise<T>,
  ...codes: readonly [KubeErrorCode, ...KubeErrorCode[]]
): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isKubeError(error, ...codes)) return undefined;
    throw error;
  }
}
