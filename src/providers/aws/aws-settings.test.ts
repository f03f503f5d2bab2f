import { describe, expect, it } from "vitest";
import { type AwsSettings, awsSettingsProblems, defaultAwsSettings } from "./aws-settings.ts";

const good: AwsSettings = { ...defaultAwsSettings, clusterName: "prod", clusterEndpoint: "https://eks.example" };

describe("settings of AWS", () => {
  it("04 §5.1 are fine with a cluster's name alone, and at their least", () => {
    expect(awsSettingsProblems({ ...defaultAwsSettings, clusterName: "prod" })).toEqual([]);
    expect(awsSettingsProblems({ ...good, vmMemoryOverheadPercent: 0, reservedEnis: 0, amiRefreshMs: 60_000 })).toEqual(
      [],
    );
  });

  it.each<[string, Partial<AwsSettings>, string]>([
    ["no cluster name", { clusterName: "" }, "--cluster-name (CLUSTER_NAME) is missing"],
    ["an endpoint without scheme", { clusterEndpoint: "eks.example" }, '--cluster-endpoint is "eks.example"'],
    ["an endpoint without host", { clusterEndpoint: "https:///path" }, "--cluster-endpoint is"],
    ["a path for an endpoint", { clusterEndpoint: "/eks" }, "--cluster-endpoint is"],
    ["overhead below zero", { vmMemoryOverheadPercent: -0.1 }, "--vm-memory-overhead-percent is -0.1"],
    ["interfaces below zero", { reservedEnis: -1 }, "--reserved-enis is -1"],
    ["images read too often", { amiRefreshMs: 59_000 }, "--ami-refresh-interval is 59s: expected 1m or more"],
    ["subnets read too often", { subnetRefreshMs: 0 }, "--subnet-refresh-interval is 0s: expected 1m or more"],
  ])("04 §5.1 refuses %s", (_, change, expected) => {
    const problems = awsSettingsProblems({ ...good, ...change });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
  });

  it("04 §9.5 names every problem at once", () => {
    expect(awsSettingsProblems({ ...good, clusterName: "", reservedEnis: -1 })).toHaveLength(2);
  });
});
