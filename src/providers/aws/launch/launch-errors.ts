import type { CreateFleetError } from "@aws-sdk/client-ec2";
import type { LaunchReason } from "../../../api/conditions/node-claim.ts";
import { AwsError, withoutAccount } from "../api/aws-error.ts";
import { awsErrorAdvice } from "../api/aws-error-advice.ts";

/** Codes of fleet errors that mean: no capacity there now. (04 §2.7) */
const insufficientCapacityCodes: readonly string[] = [
  "InsufficientInstanceCapacity",
  "MaxSpotInstanceCountExceeded",
  "VcpuLimitExceeded",
  "UnfulfillableCapacity",
  "Unsupported",
  "InsufficientFreeAddressesInSubnet",
  "MaxFleetCountExceeded",
  "ReservationCapacityExceeded",
];

export const spotRoleCode = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
export const noAddressesCode = "InsufficientFreeAddressesInSubnet";
const spreadLimitText = "limit of instances in this spread placement group";

export function isInsufficientCapacity({ ErrorCode = "" }: CreateFleetError): boolean {
  return insufficientCapacityCodes.includes(ErrorCode);
}

/** A spread group takes a few instances in each zone, of whatever type. */
export function isSpreadLimit({ ErrorMessage = "" }: CreateFleetError): boolean {
  return ErrorMessage.includes(spreadLimitText);
}

interface LaunchErrorRule {
  readonly isMatch: (text: string) => boolean;
  readonly reason: LaunchReason;
  /** What to do about it. */
  readonly advice: string;
}

const unauthorizedTexts = ["UnauthorizedOperation", "AccessDenied", "AuthFailure"];
const has =
  (...parts: readonly string[]) =>
  (text: string) =>
    parts.every((part) => text.includes(part));
const isUnauthorized = (text: string): boolean => unauthorizedTexts.some((part) => text.includes(part));

/** The first that matches code and message of an error. (04 §3.7) */
const launchErrorRules: readonly LaunchErrorRule[] = [
  {
    isMatch: has(spotRoleCode),
    reason: "SpotSLRCreationFailed",
    advice:
      "create the service-linked role with `aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`",
  },
  {
    isMatch: (text) => isUnauthorized(text) && text.includes("Not authorized for images"),
    reason: "AMIAuthorizationFailure",
    advice: "share the image with this account, or select another",
  },
  {
    isMatch: (text) => isUnauthorized(text) && /permissions boundary/i.test(text),
    reason: "Unauthorized",
    advice: "allow the call in the permissions boundary of the controller's role",
  },
  {
    isMatch: (text) => isUnauthorized(text) && /service control policy/i.test(text),
    reason: "Unauthorized",
    advice: "allow the call in the service control policy of the organization",
  },
  {
    isMatch: isUnauthorized,
    reason: "Unauthorized",
    advice: 'allow it in the policies of the controller\'s role; "karpenter aws iam" prints what it needs',
  },
  {
    isMatch: has("InvalidParameter", "belong to different networks"),
    reason: "SecurityGroupSubnetVPCMismatch",
    advice: "select security groups and subnets of the same VPC",
  },
  {
    isMatch: (text) => /iamInstanceProfile\.name is invalid/i.test(text),
    reason: "InstanceProfileNameInvalid",
    advice: "the instance profile may be new and not known everywhere yet, or does not exist",
  },
  {
    isMatch: has("InvalidLaunchTemplateId.NotFound"),
    reason: "LaunchTemplateNotFound",
    advice: "the template is made again; if it keeps going away, see who deletes templates of this cluster",
  },
  {
    isMatch: has("User data is limited to"),
    reason: "UserDataSizeLimitExceeded",
    advice: "shorten userData of the EC2NodeClass",
  },
  {
    isMatch: has("InvalidAMIID.Malformed"),
    reason: "InvalidAMIID",
    advice: "correct the image id in amiSelectorTerms of the EC2NodeClass, or in the SSM parameter it names",
  },
  {
    isMatch: has("InvalidAMIID.NotFound"),
    reason: "AMINotFound",
    advice: "the image is gone from this region: select another in amiSelectorTerms of the EC2NodeClass",
  },
  { isMatch: has("RequestLimitExceeded"), reason: "RequestLimitExceeded", advice: "it is retried" },
  { isMatch: has("InternalError"), reason: "InternalError", advice: "it is retried" },
  {
    isMatch: has("not eligible for Free Tier"),
    reason: "FreeTierIneligible",
    advice: "upgrade the account, or allow only free instance types",
  },
  { isMatch: has("MaxFleetCountExceeded"), reason: "FleetQuotaExceeded", advice: "raise the quota of fleets" },
  {
    isMatch: has("PendingVerification"),
    reason: "AccountPendingVerification",
    advice: "AWS still verifies the account for this region; it is retried, and AWS Support knows how long it takes",
  },
  {
    isMatch: has("MaxSpotInstanceCountExceeded"),
    reason: "SpotQuotaExceeded",
    advice: "raise the quota of spot instances",
  },
  { isMatch: has("VcpuLimitExceeded"), reason: "VCPULimitExceeded", advice: "raise the quota of vCPUs" },
  { isMatch: has(noAddressesCode), reason: "InsufficientFreeAddressesInSubnet", advice: "add subnets or addresses" },
];

export interface ClassifiedLaunchError {
  readonly reason: LaunchReason;
  readonly message: string;
}

/** What an error of a launch means. */
export function classifyLaunchError(error: unknown): ClassifiedLaunchError {
  if (!(error instanceof AwsError)) {
    return classifyLaunchErrorText(error instanceof Error ? error.message : String(error));
  }
  const { reason, message } = classifyLaunchErrorText(`${error.code}: ${withoutAccount(error.message)}`);
  // What AWS did not say anything about: the network, credentials, a code nobody lists.
  return { reason, message: reason === "LaunchFailed" ? awsErrorAdvice(error) : message };
}

export function classifyLaunchErrorText(text: string): ClassifiedLaunchError {
  const rule = launchErrorRules.find(({ isMatch }) => isMatch(text));
  if (rule === undefined) return { reason: "LaunchFailed", message: text };
  // What to do comes first: conditions are cut off where messages of AWS are long.
  return { reason: rule.reason, message: `${rule.advice}: ${text}` };
}
