import { errorText } from "../../../util/error-text.ts";
import { AwsError, isAwsError } from "./aws-error.ts";

const refusals = [
  "UnauthorizedOperation",
  "AccessDenied",
  "AccessDeniedException",
  "AuthFailure",
  "UnauthorizedException",
] as const;
const throttles = [
  "RequestLimitExceeded",
  "Throttling",
  "ThrottlingException",
  "ThrottledException",
  "TooManyRequestsException",
] as const;

/** Whether AWS said that the caller may not do this. */
export function isUnauthorized(error: unknown): boolean {
  return isAwsError(error, ...refusals);
}

/** Whether the same call may succeed soon: AWS is busy or failed itself. */
export function isTransient(error: unknown): boolean {
  return isAwsError(error, ...throttles, "InternalError") || (error instanceof AwsError && (error.status ?? 0) >= 500);
}

/** What failed and what to do about it, for conditions and events; without account numbers. */
export function awsErrorAdvice(error: unknown): string {
  if (!(error instanceof AwsError)) return withoutAccounts(errorText(error));
  const { operation, code } = error;
  if (isUnauthorized(error)) {
    return `${operation} is not allowed (${code}): add it to the policy of the controller's role; "karpenter aws iam" prints what it needs`;
  }
  if (isTransient(error)) return `${operation} failed on the side of AWS (${code}); it is tried again`;
  return `${operation} failed with ${code}: ${withoutAccounts(error.message)}`;
}

/** AWS puts account numbers into names of roles, and sometimes a long encoded message behind. */
function withoutAccounts(text: string): string {
  return text.replace(/\s*Encoded authorization failure message:.*$/s, "").replace(/(?<!\d)\d{12}(?!\d)/g, "<account>");
}
