/** A call that AWS refused or did not answer. `code` is AWS's own, for example `InvalidSubnetID.NotFound`. */
export class AwsError extends Error {
  override readonly name = "AwsError";
  readonly code: string;
  /** Service and operation, for example `ec2:CreateFleet`. */
  readonly operation: string;
  readonly status: number | undefined;

  constructor(
    operation: string,
    code: string,
    message: string,
    options?: { readonly status?: number; readonly cause?: unknown },
  ) {
    super(message, { cause: options?.cause });
    this.operation = operation;
    this.code = code;
    this.status = options?.status;
  }
}

export function isAwsError(error: unknown, ...codes: readonly string[]): error is AwsError {
  return error instanceof AwsError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Messages of AWS name the account in ARNs, and append what only the account's owner may decode; neither belongs in a
 * log, a condition or an event.
 */
export function withoutAccount(message: string): string {
  return message
    .replace(/\s*Encoded authorization failure message:.*$/s, "")
    .replace(/(?<!\d)\d{12}(?!\d)/g, "<account>");
}
