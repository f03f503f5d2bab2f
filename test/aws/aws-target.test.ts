import { expect, it } from "vitest";
import { awsTarget } from "./wire/aws-target.ts";

const env = { AWS_REGION: "us-west-2", CLUSTER_NAME: "demo" };

it("04 §9.7-7 a real account is tested only when asked for, and nothing is created unless that is said", () => {
  expect(awsTarget(env)).toBeUndefined();
  expect(awsTarget({ ...env, AWS_ACCOUNT_TESTS: "" })).toBeUndefined();
  expect(awsTarget({ ...env, AWS_ACCOUNT_TESTS: "read" })).toEqual({
    region: "us-west-2",
    cluster: "demo",
    mayCreate: false,
  });
  expect(awsTarget({ ...env, AWS_ACCOUNT_TESTS: "create" })?.mayCreate).toBe(true);
  expect(() => awsTarget({ ...env, AWS_ACCOUNT_TESTS: "1" })).toThrow(/it is read .* or create/);
  expect(() => awsTarget({ AWS_ACCOUNT_TESTS: "read", AWS_REGION: "us-west-2" })).toThrow(/CLUSTER_NAME/);
});
