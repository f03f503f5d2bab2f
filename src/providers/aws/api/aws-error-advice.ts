import { errorText } from "../../../util/error-text.ts";
import { AwsError, isAwsError, withoutAccount } from "./aws-error.ts";

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

/** What Node and the SDK call it when nobody answers. */
const unreachable = [
  "TimeoutError",
  "NetworkingError",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EPIPE",
  "EHOSTUNREACH",
  "ENETUNREACH",
] as const;
const missingCredentials = [
  "CredentialsProviderError",
  "ExpiredToken",
  "ExpiredTokenException",
  "RequestExpired",
] as const;

/** Whether AWS said that the caller may not do this. */
export function isUnauthorized(error: unknown): boolean {
  return isAwsError(error, ...refusals);
}

/** Whether the same call may succeed soon: AWS is busy or failed itself. */
export function isTransient(error: unknown): boolean {
  return (
    isAwsError(error, ...throttles, ...unreachable, "InternalError") ||
    (error instanceof AwsError && (error.status ?? 0) >= 500)
  );
}

/** What a controller in a private network lacks most often. */
export const networkHint = "routes, NAT gateway or VPC endpoints, security groups, proxy";

/** What failed and what to do about it, for conditions and events; without account numbers. */
export function awsErrorAdvice(error: unknown): string {
  if (!(error instanceof AwsError)) return withoutAccount(errorText(error));
  const { operation, code, message } = error;
  if (isUnauthorized(error)) {
    return `${operation} is not allowed (${code}): add it to the policy of the controller's role; "karpenter aws iam" prints what it needs`;
  }
  if (isAwsError(error, ...unreachable)) {
    return `${operation} was not answered (${code}): check that the controller's network reaches AWS (${networkHint}); it is tried again`;
  }
  if (isAwsError(error, ...throttles)) {
    return `${operation} is throttled (${code}): it is tried again; if it stays so, ask AWS for a higher rate of this call`;
  }
  if (isAwsError(error, ...missingCredentials)) {
    return `${operation} has no valid credentials (${code}): check the controller's service account and its role`;
  }
  if (isTransient(error)) return `${operation} failed on the side of AWS (${code}); it is tried again`;
  return `${operation} failed with ${code}: ${withoutAccount(message)}`;
}
