import { describe, expect, it } from "vitest";
import { regionOfArn, regionOfPlace, regionOfProviderId } from "./region-names.ts";

describe("names of AWS's regions and zones", () => {
  it.each([
    ["us-east-1a", "us-east-1"],
    ["us-gov-west-1b", "us-gov-west-1"],
    ["us-west-2-lax-1a", "us-west-2"],
    ["us-east-1-wl1-bos-wlz-1", "us-east-1"],
    ["eu-central-1", "eu-central-1"],
    ["apne1-az4", "ap-northeast-1"],
    ["cnnw1-az1", "cn-northwest-1"],
    ["usgw1-az1", "us-gov-west-1"],
    ["usw2-lax1-az1", "us-west-2"],
    ["test-zone-a", undefined],
    ["us-east1-b", undefined],
    ["eastus-1", undefined],
    ["us-est-1a", undefined],
    ["", undefined],
  ])("%s is in %s", (name, region) => {
    expect(regionOfPlace(name)).toBe(region);
  });

  it("a provider id and an ARN name theirs, unless they have none", () => {
    expect(regionOfProviderId("aws:///eu-west-3b/i-0123456789abcdef0")).toBe("eu-west-3");
    expect(regionOfProviderId("kwok://eu-west-3b/x")).toBeUndefined();
    expect(regionOfArn("arn:aws-cn:kms:cn-north-1:111122223333:key/k")).toBe("cn-north-1");
    expect(regionOfArn("arn:aws:iam::111122223333:role/node")).toBeUndefined();
  });
});
