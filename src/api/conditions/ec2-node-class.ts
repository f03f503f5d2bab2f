import {
  type Condition,
  type Conditioned,
  type ConditionObservation,
  type ConditionSet,
  type ConditionStatus,
  readyCondition,
} from "./condition.ts";
import { getCondition } from "./set-condition.ts";

const alwaysDependents = [
  "AMIsReady",
  "SubnetsReady",
  "SecurityGroupsReady",
  "InstanceProfileReady",
  "ValidationSucceeded",
  "PlacementGroupReady",
] as const;
export type Ec2NodeClassDependent = (typeof alwaysDependents)[number] | "CapacityReservationsReady";

/** Conditions of an EC2NodeClass: reservations count only while their gate is on. (01 §2.4) */
export function ec2NodeClassConditions({ reservedCapacity }: { readonly reservedCapacity: boolean }) {
  const dependents: readonly Ec2NodeClassDependent[] = reservedCapacity
    ? [...alwaysDependents, "CapacityReservationsReady"]
    : alwaysDependents;
  return { root: readyCondition, dependents, independents: [] } as const satisfies ConditionSet;
}

/** Reasons for False, by condition. Reservations and the instance profile are never False. */
export const ec2NodeClassReasons = {
  AMIsReady: ["AMINotFound", "UnsupportedAlias"],
  SubnetsReady: ["SubnetsNotFound"],
  SecurityGroupsReady: ["SecurityGroupsNotFound"],
  PlacementGroupReady: ["PlacementGroupNotFound", "PlacementGroupResolutionFailed"],
  CapacityReservationsReady: [],
  InstanceProfileReady: [],
  /** In the order they are checked. */
  ValidationSucceeded: [
    "ClusterCIDRResolutionFailed",
    "InvalidKubeletConfiguration",
    "KubeletExpressionsDisabled",
    "KubeletExpressionInvalid",
    "UnsupportedKubeletConfiguration",
    "DependenciesNotReady",
    "KubeletExpressionEvaluationFailed",
    "TagValidationFailed",
    "CreateLaunchTemplateAuthCheckFailed",
    "UserDataSizeLimitExceeded",
    "CreateFleetAuthCheckFailed",
    "RunInstancesAuthCheckFailed",
    "InstanceProfileNotFound",
  ],
} as const satisfies Readonly<Record<Ec2NodeClassDependent, readonly string[]>>;
export type Ec2ValidationReason = (typeof ec2NodeClassReasons.ValidationSucceeded)[number];

export const dryRunReasons = [
  "CreateLaunchTemplateAuthCheckFailed",
  "UserDataSizeLimitExceeded",
  "CreateFleetAuthCheckFailed",
  "RunInstancesAuthCheckFailed",
  "InstanceProfileNotFound",
] as const satisfies readonly Ec2ValidationReason[];
export type DryRunReason = (typeof dryRunReasons)[number];

/** The outcome of the dry-run calls. `skipped`: DISABLE_DRY_RUN. */
export type DryRun =
  | { readonly kind: "passed" }
  | { readonly kind: "skipped" }
  | { readonly kind: "failed"; readonly reason: DryRunReason; readonly message: string };

/** What was checked of an EC2NodeClass. A message is a failure; absent means it passed. */
export interface Ec2ValidationFacts {
  readonly amiFamily: string;
  readonly clusterCidr?: string | undefined;
  readonly kubelet?: string | undefined;
  readonly expressionsDisabled?: string | undefined;
  readonly expressionInvalid?: string | undefined;
  readonly unsupportedKubelet?: string | undefined;
  readonly conditions: readonly Condition[];
  readonly expressionEvaluation?: string | undefined;
  readonly tags?: string | undefined;
  /** Absent: not tried yet. They come last because they are API calls. */
  readonly dryRun?: DryRun | undefined;
}

/** `needs-dry-run`: no check failed, so the dry-run calls decide. */
export type Ec2ValidationVerdict =
  | { readonly kind: "decided"; readonly finding: ConditionObservation }
  | { readonly kind: "needs-dry-run" };

const precedingDependents = ["AMIsReady", "InstanceProfileReady", "SecurityGroupsReady", "SubnetsReady"] as const;

/** `ValidationSucceeded` of an EC2NodeClass: the first problem, in a fixed order. (01 §2.4) */
export function ec2Validation(facts: Ec2ValidationFacts): Ec2ValidationVerdict {
  const failure = beforeDependencies(facts) ?? dependenciesFailure(facts.conditions) ?? afterDependencies(facts);
  if (failure !== undefined) return { kind: "decided", finding: failure };
  if (facts.dryRun === undefined) return { kind: "needs-dry-run" };
  const { dryRun } = facts;
  const finding = dryRun.kind === "failed" ? failedObservation(dryRun.reason, dryRun.message) : undefined;
  return { kind: "decided", finding: finding ?? { status: "True", reason: "ValidationSucceeded", message: "" } };
}

function beforeDependencies(facts: Ec2ValidationFacts): ConditionObservation | undefined {
  // Only AL2023's boot configuration names the service CIDR.
  const cidr = facts.amiFamily === "AL2023" ? facts.clusterCidr : undefined;
  return (
    failedObservation("ClusterCIDRResolutionFailed", cidr) ??
    failedObservation("InvalidKubeletConfiguration", facts.kubelet) ??
    failedObservation("KubeletExpressionsDisabled", facts.expressionsDisabled) ??
    failedObservation("KubeletExpressionInvalid", facts.expressionInvalid) ??
    failedObservation("UnsupportedKubeletConfiguration", facts.unsupportedKubelet)
  );
}

function afterDependencies(facts: Ec2ValidationFacts): ConditionObservation | undefined {
  return (
    failedObservation("KubeletExpressionEvaluationFailed", facts.expressionEvaluation) ??
    failedObservation("TagValidationFailed", facts.tags)
  );
}

// False takes precedence over Unknown: waiting will not fix a dependency that is known to be bad.
function dependenciesFailure(conditions: readonly Condition[]): ConditionObservation | undefined {
  const statuses = precedingDependents.map((type) => [type, statusOf(conditions, type)] as const);
  const waiting = statuses.filter(([, status]) => status !== "True");
  if (waiting.length === 0) return undefined;
  const message = `waiting for ${waiting.map(([type, status]) => `${type}=${status}`).join(", ")}`;
  const isFalse = waiting.some(([, status]) => status === "False");
  return { status: isFalse ? "False" : "Unknown", reason: "DependenciesNotReady", message };
}

function statusOf(conditions: readonly Condition[], type: string): ConditionStatus {
  return conditions.find((condition) => condition.type === type)?.status ?? "Unknown";
}

function failedObservation(reason: Ec2ValidationReason, message: string): ConditionObservation;
function failedObservation(reason: Ec2ValidationReason, message: string | undefined): ConditionObservation | undefined;
function failedObservation(reason: Ec2ValidationReason, message: string | undefined): ConditionObservation | undefined {
  return message === undefined ? undefined : { status: "False", reason, message };
}

/** A class launches nodes only if it is Ready for its current generation. (01 §2.4) */
export function isNodeClassLaunchable(nodeClass: Conditioned): boolean {
  const condition = getCondition(nodeClass, readyCondition);
  return condition?.status === "True" && (condition.observedGeneration ?? 0) === (nodeClass.metadata.generation ?? 0);
}
