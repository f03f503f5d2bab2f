import { describe, expect, it } from "vitest";
import type { LaunchReason } from "../../../api/conditions/node-claim.ts";
import { awsErrorOf } from "../api/sdk-call.ts";
import { fleetFailure } from "./fleet-errors.ts";
import { classifyLaunchError } from "./launch-errors.ts";

const user = "User: arn:aws:sts::123456789012:assumed-role/karpenter/1 is not authorized to perform: ec2:RunInstances";
const encoded = "Encoded authorization failure message: dGhpcyBpcyBub3QgZm9yIGV2ZXJ5Ym9keQ";

/** What EC2 answers, as its reference and its users quote it, and what it means to us. */
const answers: readonly (readonly [code: string, message: string, reason: LaunchReason, advice: RegExp])[] = [
  [
    "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
    "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.",
    "SpotSLRCreationFailed",
    /create-service-linked-role/,
  ],
  [
    "UnauthorizedOperation",
    `You are not authorized to perform this operation. ${user} on resource: arn:aws:ec2:us-west-2:123456789012:instance/* because no identity-based policy allows the ec2:RunInstances action. ${encoded}`,
    "Unauthorized",
    /karpenter aws iam/,
  ],
  [
    "UnauthorizedOperation",
    `You are not authorized to perform this operation. ${user} because no permissions boundary allows the ec2:RunInstances action. ${encoded}`,
    "Unauthorized",
    /permissions boundary of/,
  ],
  [
    "UnauthorizedOperation",
    `You are not authorized to perform this operation. ${user} with an explicit deny in a service control policy. ${encoded}`,
    "Unauthorized",
    /service control policy of/,
  ],
  ["AccessDenied", `${user} on resource: *`, "Unauthorized", /policies of the controller's role/],
  [
    "AuthFailure",
    "AWS was not able to validate the provided access credentials",
    "Unauthorized",
    /policies of the controller/,
  ],
  ["AuthFailure", "Not authorized for images: [ami-0123456789abcdef0]", "AMIAuthorizationFailure", /share the image/],
  [
    "InvalidParameter",
    "Security group sg-0aaaaaaaaaaaaaaaa and subnet subnet-0bbbbbbbbbbbbbbbb belong to different networks.",
    "SecurityGroupSubnetVPCMismatch",
    /same VPC/,
  ],
  [
    "InvalidParameterValue",
    "Value (demo_4067990795380418201) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
    "InstanceProfileNameInvalid",
    /instance profile/,
  ],
  [
    "InvalidLaunchTemplateId.NotFound",
    "The specified launch template, with template ID lt-0123456789abcdef0, does not exist.",
    "LaunchTemplateNotFound",
    /made again/,
  ],
  ["InvalidParameterValue", "User data is limited to 16384 bytes", "UserDataSizeLimitExceeded", /shorten userData/],
  ["InvalidAMIID.Malformed", 'Invalid id: "ami-typo" (expecting "ami-...")', "InvalidAMIID", /amiSelectorTerms/],
  [
    "InvalidAMIID.NotFound",
    "The image id '[ami-0123456789abcdef0]' does not exist",
    "AMINotFound",
    /select another in amiSelectorTerms/,
  ],
  ["RequestLimitExceeded", "Request limit exceeded.", "RequestLimitExceeded", /retried/],
  ["InternalError", "An internal error has occurred", "InternalError", /retried/],
  [
    "InvalidParameterCombination",
    "The specified instance type is not eligible for Free Tier. For a list of Free Tier instance types, run 'describe-instance-types' with the filter 'free-tier-eligible=true'.",
    "FreeTierIneligible",
    /upgrade the account/,
  ],
  [
    "MaxFleetCountExceeded",
    "You've reached your quota for the maximum number of Fleets for this account. You've launched 1000, and your quota is 1000.",
    "FleetQuotaExceeded",
    /raise the quota of fleets/,
  ],
  [
    "PendingVerification",
    "Your request for accessing resources in this region is being validated, and you will not be able to launch additional resources in this region until the validation is complete.",
    "AccountPendingVerification",
    /verifies the account/,
  ],
  ["MaxSpotInstanceCountExceeded", "Max spot instance count exceeded", "SpotQuotaExceeded", /quota of spot instances/],
  [
    "VcpuLimitExceeded",
    "You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to.",
    "VCPULimitExceeded",
    /quota of vCPUs/,
  ],
  [
    "InsufficientFreeAddressesInSubnet",
    "There are not enough free addresses in subnet 'subnet-0bbbbbbbbbbbbbbbb' to satisfy the requested number of instances.",
    "InsufficientFreeAddressesInSubnet",
    /add subnets/,
  ],
  [
    "InvalidBlockDeviceMapping",
    "Volume of size 10GB is smaller than snapshot 'snap-0123456789abcdef0', expect size>= 20GB",
    "LaunchFailed",
    /expect size/,
  ],
];

/** An error as the SDK throws it for EC2, whose code is the name. */
function thrown(code: string, message: string): Error {
  const error = new Error(message);
  return Object.assign(error, { name: code, $fault: "client", $metadata: { httpStatusCode: 400 } });
}

/** Fleets answer these as a lack of capacity. */
const capacityReasons: readonly LaunchReason[] = [
  "FleetQuotaExceeded",
  "SpotQuotaExceeded",
  "VCPULimitExceeded",
  "InsufficientFreeAddressesInSubnet",
  "SpotSLRCreationFailed",
];

describe("04 §3.7 what EC2 answers to a launch", () => {
  it.each(answers)("%s: %s", (code, message, reason, advice) => {
    const classified = classifyLaunchError(awsErrorOf("ec2:CreateFleet", thrown(code, message)));
    expect(classified.reason).toBe(reason);
    expect(classified.message).toMatch(advice);
    expect(classified.message).toContain(code);
    const failure = fleetFailure([{ ErrorCode: code, ErrorMessage: message }]);
    const isCapacity = capacityReasons.includes(reason);
    expect([failure.code, failure.reason]).toEqual(
      isCapacity ? ["insufficient-capacity", undefined] : ["create-failed", reason],
    );
    for (const text of [classified.message, failure.message]) {
      expect(text).not.toContain("123456789012");
      expect(text).not.toContain("dGhpcyBpcyBub3QgZm9yIGV2ZXJ5Ym9keQ");
    }
  });

  it("04 §3.7 every reason of the table is reached by some answer", () => {
    const reasons = new Set(answers.map(([, , reason]) => reason));
    expect([...reasons].sort()).toEqual([
      "AMIAuthorizationFailure",
      "AMINotFound",
      "AccountPendingVerification",
      "FleetQuotaExceeded",
      "FreeTierIneligible",
      "InstanceProfileNameInvalid",
      "InsufficientFreeAddressesInSubnet",
      "InternalError",
      "InvalidAMIID",
      "LaunchFailed",
      "LaunchTemplateNotFound",
      "RequestLimitExceeded",
      "SecurityGroupSubnetVPCMismatch",
      "SpotQuotaExceeded",
      "SpotSLRCreationFailed",
      "Unauthorized",
      "UserDataSizeLimitExceeded",
      "VCPULimitExceeded",
    ]);
  });

  it("04 §3.6 one error that is no lack of capacity decides, whatever stands before it", () => {
    const sold = { ErrorCode: "InsufficientInstanceCapacity", ErrorMessage: "none" };
    const failure = fleetFailure([sold, { ErrorCode: "InvalidAMIID.NotFound", ErrorMessage: "gone" }]);
    expect([failure.code, failure.reason]).toEqual(["create-failed", "AMINotFound"]);
    expect(fleetFailure([sold]).code).toBe("insufficient-capacity");
    expect(fleetFailure([]).code).toBe("insufficient-capacity");
  });

  it.each([
    ["a request that times out", { name: "TimeoutError", message: "Connection timed out after 240000 ms" }],
    ["a refused connection", { name: "Error", code: "ECONNREFUSED", message: "connect ECONNREFUSED 10.0.0.1:443" }],
    ["a name nobody knows", { name: "Error", code: "ENOTFOUND", message: "getaddrinfo ENOTFOUND ec2.invalid" }],
  ])("04 §3.7 %s says where to look", (_, error) => {
    const { reason, message } = classifyLaunchError(awsErrorOf("ec2:CreateFleet", error));
    expect(reason).toBe("LaunchFailed");
    expect(message).toMatch(/^ec2:CreateFleet was not answered .*VPC endpoints.*; it is tried again$/);
  });
});
