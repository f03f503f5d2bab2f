import { describe, expect, it } from "vitest";
import { awsErrorOf } from "./sdk-call.ts";
import { pricingRegionOf } from "./sdk-services.ts";

function sdkError(fields: object): Error {
  return Object.assign(new Error("refused"), { $fault: "client", $metadata: { httpStatusCode: 400 } }, fields);
}

describe("errors of the SDK", () => {
  it.each([
    ["EC2", { name: "InvalidInstanceID.NotFound", Code: "InvalidInstanceID.NotFound" }, "InvalidInstanceID.NotFound"],
    ["SSM", { name: "ParameterNotFound" }, "ParameterNotFound"],
    ["IAM", { name: "NoSuchEntityException", Code: "NoSuchEntity" }, "NoSuchEntity"],
    ["IAM", { name: "LimitExceededException", Code: "LimitExceeded" }, "LimitExceeded"],
    ["SQS", { name: "QueueDoesNotExist", Code: "AWS.SimpleQueueService.NonExistentQueue" }, "QueueDoesNotExist"],
    ["EKS", { name: "ResourceNotFoundException" }, "ResourceNotFoundException"],
    ["network", { name: "Error", code: "ECONNREFUSED" }, "ECONNREFUSED"],
  ])("04 §3.7 %s: name and code become one code", (_, fields, code) => {
    expect(awsErrorOf("x:Y", sdkError(fields))).toMatchObject({ code, operation: "x:Y", status: 400 });
  });

  it("04 §5 no account number and no encoded message is kept", () => {
    const message =
      "You are not authorized to perform this operation. User: arn:aws:sts::123456789012:assumed-role/K is not authorized. Encoded authorization failure message: AbC_123";
    const error = awsErrorOf("ec2:RunInstances", sdkError({ name: "UnauthorizedOperation", message }));
    expect(error.message).toBe(
      "You are not authorized to perform this operation. User: arn:aws:sts::<account>:assumed-role/K is not authorized.",
    );
    expect(error.cause).toBeUndefined();
  });

  it("04 §2.6 each region has its price list", () => {
    const regions = ["ap-southeast-2", "cn-north-1", "eu-west-1", "us-west-2", "sa-east-1"];
    expect(regions.map(pricingRegionOf)).toEqual([
      "ap-south-1",
      "cn-northwest-1",
      "eu-central-1",
      "us-east-1",
      "us-east-1",
    ]);
  });
});
