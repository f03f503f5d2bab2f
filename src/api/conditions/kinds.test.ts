import { describe, expect, it } from "vitest";
import type { Problem } from "../problem.ts";
import { provisioningReasons, readyForProvisioningReasons } from "./capacity-buffer.ts";
import type { Condition, Conditioned, ConditionStatus } from "./condition.ts";
import {
  dryRunReasons,
  type Ec2ValidationFacts,
  ec2NodeClassReasons,
  ec2Validation,
  isNodeClassLaunchable,
} from "./ec2-node-class.ts";
import { initializationReasons, isConditionSettled, launchFailureObservation, launchReasons } from "./node-claim.ts";
import { overlayConflictObservation, overlayValidationObservation } from "./node-overlay.ts";
import { nodeClassReadyObservation, poolValidationObservation } from "./node-pool.ts";

const time = "2026-01-01T00:00:00Z";

function condition(type: string, status: ConditionStatus, rest: Partial<Condition> = {}): Condition {
  return { type, status, lastTransitionTime: time, reason: "R", message: "m", observedGeneration: 1, ...rest };
}

function object(...conditions: readonly Condition[]): Conditioned {
  return { metadata: { generation: 1 }, status: { conditions } };
}

const problem: Problem = {
  code: "invalid-key",
  path: ["spec", "template", "metadata", "labels", "a b"],
  message: "has a space",
};

describe("NodePool conditions", () => {
  it("01 §2.2 ValidationSucceeded is True without problems, else False with all of them", () => {
    expect(poolValidationObservation([])).toEqual({ status: "True", reason: "ValidationSucceeded", message: "" });
    expect(poolValidationObservation([problem, { ...problem, path: ["spec"], message: "also bad" }])).toEqual({
      status: "False",
      reason: "NodePoolValidationFailed",
      message: "spec.template.metadata.labels[a b]: has a space; spec: also bad",
    });
  });

  it("01 §0.4 a message never outgrows the condition schema", () => {
    const many = Array.from({ length: 2_000 }, () => problem);
    expect(poolValidationObservation(many).message).toHaveLength(32_768);
    expect(poolValidationObservation(many).message.endsWith("...")).toBe(true);
  });

  it.each([
    ["missing", undefined, "False", "NodeClassNotFound"],
    [
      "terminating, though ready",
      { ...object(condition("Ready", "True")), metadata: { deletionTimestamp: time } },
      "False",
      "NodeClassTerminating",
    ],
    ["ready", object(condition("Ready", "True")), "True", "NodeClassReady"],
    ["unready", object(condition("Ready", "False", { reason: "SubnetsNotFound" })), "False", "SubnetsNotFound"],
    ["of unknown readiness", object(condition("Ready", "Unknown")), "False", "NodeClassReadinessUnknown"],
    ["without conditions", { metadata: {} }, "False", "NodeClassReadinessUnknown"],
    [
      "unready for no reason",
      object(condition("Ready", "False", { reason: "" })),
      "False",
      "NodeClassReadinessUnknown",
    ],
  ] as const)("01 §2.2, §9.13 a node class that is %s", (_what, nodeClass, status, reason) => {
    expect(nodeClassReadyObservation(nodeClass)).toMatchObject({ status, reason });
  });

  it("01 §2.2 an unready class' message is copied", () => {
    expect(nodeClassReadyObservation(object(condition("Ready", "False", { message: "no subnets" }))).message).toBe(
      "no subnets",
    );
  });
});

describe("NodeClaim conditions", () => {
  it("01 §2.3 a failed launch is Unknown, its message cut at 300 characters", () => {
    expect(launchFailureObservation({ message: "x".repeat(300) })).toEqual({
      status: "Unknown",
      reason: "LaunchFailed",
      message: "x".repeat(300),
    });
    expect(launchFailureObservation({ reason: "Unauthorized", message: "x".repeat(301) })).toEqual({
      status: "Unknown",
      reason: "Unauthorized",
      message: `${"x".repeat(300)}...`,
    });
  });

  it("01 §2.5 knows the provider's 21 reasons", () => {
    expect(new Set(launchReasons).size).toBe(21);
  });

  it("01 §2.3 initialization is checked in this order", () => {
    expect(initializationReasons.join(" ")).toBe(
      "NodeNotFound NodeNotReady StartupTaintsExist KnownEphemeralTaintsExist ResourceNotRegistered DRADriverPoolsNotPublished",
    );
  });

  it.each([
    ["True", true],
    ["False", true],
    ["Unknown", false],
    [undefined, false],
  ] as const)("01 §2.3 Launched=%s is settled: %s", (status, settled) => {
    expect(
      isConditionSettled(object(...(status === undefined ? [] : [condition("Launched", status)])), "Launched"),
    ).toBe(settled);
  });
});

describe("NodeOverlay and CapacityBuffer conditions", () => {
  it("01 §2.4 an overlay is refused for what it says or for whom it collides with", () => {
    expect(overlayValidationObservation([]).status).toBe("True");
    expect(overlayValidationObservation([problem])).toMatchObject({ status: "False", reason: "RuntimeValidation" });
    expect(overlayConflictObservation("collides with a")).toEqual({
      status: "False",
      reason: "Conflict",
      message: "collides with a",
    });
  });

  it("01 §2.4 a buffer's reasons are the declared ones", () => {
    expect(Object.values(readyForProvisioningReasons)).toEqual([
      "Resolved",
      "ResolutionFailed",
      "PodTemplateNotFound",
      "ScalableRefNotFound",
    ]);
    expect(Object.values(provisioningReasons)).toEqual([
      "FitsExistingCapacity",
      "NotReadyForProvisioning",
      "BufferEmpty",
      "RequiresNewCapacity",
    ]);
  });
});

describe("EC2NodeClass ValidationSucceeded", () => {
  const dependencies = ["AMIsReady", "InstanceProfileReady", "SecurityGroupsReady", "SubnetsReady"];
  const conditions = dependencies.map((type) => condition(type, "True"));
  const fine: Ec2ValidationFacts = { amiFamily: "AL2023", conditions, dryRun: { kind: "passed" } };

  /** Everything wrong at once; each step takes the first reason away. */
  const steps: readonly [string, Partial<Ec2ValidationFacts>][] = [
    ["ClusterCIDRResolutionFailed", { clusterCidr: undefined }],
    ["InvalidKubeletConfiguration", { kubelet: undefined }],
    ["KubeletExpressionsDisabled", { expressionsDisabled: undefined }],
    ["KubeletExpressionInvalid", { expressionInvalid: undefined }],
    ["UnsupportedKubeletConfiguration", { unsupportedKubelet: undefined }],
    ["DependenciesNotReady", { conditions }],
    ["KubeletExpressionEvaluationFailed", { expressionEvaluation: undefined }],
    ["TagValidationFailed", { tags: undefined }],
    ["RunInstancesAuthCheckFailed", { dryRun: { kind: "passed" } }],
  ];

  it("01 §2.4 reports the first thing wrong, in the fixed order", () => {
    let facts: Ec2ValidationFacts = {
      amiFamily: "AL2023",
      clusterCidr: "x",
      kubelet: "x",
      expressionsDisabled: "x",
      expressionInvalid: "x",
      unsupportedKubelet: "x",
      conditions: [],
      expressionEvaluation: "x",
      tags: "x",
      dryRun: { kind: "failed", reason: "RunInstancesAuthCheckFailed", message: "x" },
    };
    const reported = steps.map(([, fixed]) => {
      const verdict = ec2Validation(facts);
      facts = { ...facts, ...fixed };
      return verdict.kind === "decided" ? verdict.finding.reason : verdict.kind;
    });
    expect(reported).toEqual(steps.map(([reason]) => reason));
    expect(ec2Validation(facts)).toEqual({
      kind: "decided",
      finding: { status: "True", reason: "ValidationSucceeded", message: "" },
    });
    expect(reported.filter((reason) => !dryRunReasons.some((one) => one === reason))).toEqual(
      ec2NodeClassReasons.ValidationSucceeded.filter((reason) => !dryRunReasons.some((one) => one === reason)),
    );
  });

  it("01 §2.4 the cluster CIDR matters to AL2023 only", () => {
    expect(ec2Validation({ ...fine, amiFamily: "Bottlerocket", clusterCidr: "unreachable" })).toMatchObject({
      finding: { status: "True" },
    });
  });

  it.each(dependencies)("01 §2.4 waits while %s is Unknown and fails when it is False", (type) => {
    const withStatus = (status: ConditionStatus) =>
      conditions.map((one) => (one.type === type ? condition(type, status) : one));
    expect(ec2Validation({ ...fine, conditions: withStatus("Unknown") })).toMatchObject({
      finding: { status: "Unknown", reason: "DependenciesNotReady", message: `waiting for ${type}=Unknown` },
    });
    expect(ec2Validation({ ...fine, conditions: withStatus("False") })).toMatchObject({
      finding: { status: "False", reason: "DependenciesNotReady" },
    });
  });

  it("01 §2.4 False beats Unknown among dependencies", () => {
    expect(
      ec2Validation({ ...fine, conditions: [condition("AMIsReady", "Unknown"), condition("SubnetsReady", "False")] }),
    ).toMatchObject({
      finding: { status: "False" },
    });
  });

  it("01 §2.4 asks for the dry run only when nothing else is wrong, and takes a skipped one for success", () => {
    expect(ec2Validation({ ...fine, dryRun: undefined })).toEqual({ kind: "needs-dry-run" });
    expect(ec2Validation({ ...fine, dryRun: undefined, tags: "bad" })).toMatchObject({ kind: "decided" });
    expect(ec2Validation({ ...fine, dryRun: { kind: "skipped" } })).toMatchObject({ finding: { status: "True" } });
  });

  it.each(dryRunReasons)("01 §2.4 a dry run may fail with %s", (reason) => {
    expect(ec2Validation({ ...fine, dryRun: { kind: "failed", reason, message: "denied" } })).toEqual({
      kind: "decided",
      finding: { status: "False", reason, message: "denied" },
    });
  });

  it("01 §2.4 launches only from a class found ready in its present form", () => {
    expect(isNodeClassLaunchable(object(condition("Ready", "True")))).toBe(true);
    expect(isNodeClassLaunchable({ ...object(condition("Ready", "True")), metadata: { generation: 2 } })).toBe(false);
    expect(isNodeClassLaunchable(object(condition("Ready", "Unknown")))).toBe(false);
    expect(isNodeClassLaunchable(object())).toBe(false);
  });
});
