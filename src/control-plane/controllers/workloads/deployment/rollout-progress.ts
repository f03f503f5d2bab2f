import { rfc3339 } from "../../../../util/timestamp.ts";
import { sum } from "../scaled-value.ts";
import type { Deployment, DeploymentStatus, ReplicaSet, WorkloadCondition } from "../types.ts";
import {
  findWorkloadCondition,
  omitZero,
  withoutWorkloadCondition,
  withWorkloadCondition,
} from "../workload-status.ts";
import { maxUnavailable, type RolloutSpec } from "./rollout-sizes.ts";

export const progressReasons = {
  newSetCreated: "NewReplicaSetCreated",
  newSetFound: "FoundNewReplicaSet",
  newSetAvailable: "NewReplicaSetAvailable",
  updated: "ReplicaSetUpdated",
  failedCreate: "FailedCreate",
  deadlineExceeded: "ProgressDeadlineExceeded",
  paused: "DeploymentPaused",
  resumed: "DeploymentResumed",
} as const;

/** A Deployment with the ReplicaSet of its current template and the others. */
export interface DeploymentRollout {
  readonly deployment: Deployment;
  readonly newReplicaSet: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

export interface RolloutState extends DeploymentRollout {
  readonly now: number;
}

/** Kubernetes writes "no deadline" as the largest int32. */
const noDeadline = 2 ** 31 - 1;

export function progressDeadlineMs({ spec }: Deployment): number | undefined {
  const seconds = spec.progressDeadlineSeconds ?? noDeadline;
  return seconds === noDeadline ? undefined : seconds * 1000;
}

export function rolloutSpec({ spec }: Deployment): RolloutSpec {
  return {
    replicas: spec.replicas ?? 1,
    strategy: spec.strategy?.type ?? "RollingUpdate",
    rollingUpdate: spec.strategy?.rollingUpdate,
  };
}

/** Replica counts and the Available condition; Progressing is left as it is. */
export function countedStatus({ deployment, newReplicaSet, old, now }: RolloutState): DeploymentStatus {
  const sets = newReplicaSet === undefined ? old : [...old, newReplicaSet];
  const available = sum(sets, ({ status }) => status?.availableReplicas);
  const unavailable = Math.max(0, sum(sets, ({ spec }) => spec.replicas) - available);
  const spec = rolloutSpec(deployment);
  const isAvailable = available >= spec.replicas - maxUnavailable(spec);
  const [status, reason, message] = isAvailable
    ? (["True", "MinimumReplicasAvailable", "Deployment has minimum availability."] as const)
    : (["False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."] as const);
  const condition = { type: "Available", status, reason, message };
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: omitZero(sum(sets, ({ status }) => status?.replicas)),
    updatedReplicas: omitZero(newReplicaSet?.status?.replicas ?? 0),
    readyReplicas: omitZero(sum(sets, ({ status }) => status?.readyReplicas)),
    availableReplicas: omitZero(available),
    unavailableReplicas: omitZero(unavailable),
    terminatingReplicas: sum(sets, ({ status }) => status?.terminatingReplicas),
    collisionCount: deployment.status?.collisionCount,
    conditions: withWorkloadCondition(deployment.status?.conditions, condition, { now, hasUpdateTime: true }),
  };
}

/** The full status during a rollout: also whether it progresses, is complete, or has timed out. (05:CP-L1) */
export function rolloutStatus(state: RolloutState): DeploymentStatus {
  const { deployment, newReplicaSet, old, now } = state;
  const counted = countedStatus(state);
  const before = findWorkloadCondition(counted.conditions, "Progressing");
  const deadlineMs = progressDeadlineMs(deployment);
  let conditions = counted.conditions ?? [];
  if (deadlineMs === undefined) conditions = withoutWorkloadCondition(conditions, "Progressing");
  const isOver = counted.replicas === counted.updatedReplicas && before?.reason === progressReasons.newSetAvailable;
  const progress = deadlineMs === undefined || isOver ? undefined : progressOf(state, { counted, deadlineMs });
  if (progress !== undefined) {
    const isProgress = progress.reason === progressReasons.updated; // every progress restarts the deadline
    conditions = isProgress
      ? withRenewedCondition(conditions, progress, now)
      : withWorkloadCondition(conditions, progress, { now, hasUpdateTime: true });
  }
  const failure = [...(newReplicaSet === undefined ? [] : [newReplicaSet]), ...old]
    .map(({ status }) => findWorkloadCondition(status?.conditions, "ReplicaFailure"))
    .find((condition) => condition?.status === "True");
  conditions =
    failure === undefined
      ? withoutWorkloadCondition(conditions, "ReplicaFailure")
      : withWorkloadCondition(conditions, failure, { now, hasUpdateTime: true });
  return { ...counted, conditions };
}

interface ProgressInput {
  readonly counted: DeploymentStatus;
  readonly deadlineMs: number;
}

function progressOf({ deployment, newReplicaSet, now }: RolloutState, { counted, deadlineMs }: ProgressInput) {
  const what =
    newReplicaSet === undefined
      ? `Deployment "${deployment.metadata.name}"`
      : `ReplicaSet "${newReplicaSet.metadata.name}"`;
  if (isRolloutComplete(deployment, counted)) {
    return progressCondition("True", progressReasons.newSetAvailable, `${what} has successfully progressed.`);
  }
  if (hasProgressed(deployment.status ?? {}, counted)) {
    return progressCondition("True", progressReasons.updated, `${what} is progressing.`);
  }
  if (hasTimedOut(counted, { deadlineMs, now })) {
    return progressCondition("False", progressReasons.deadlineExceeded, `${what} has timed out progressing.`);
  }
  return undefined;
}

export function progressCondition(
  status: WorkloadCondition["status"],
  reason: string,
  message: string,
): WorkloadCondition {
  return { type: "Progressing", status, reason, message };
}

function withRenewedCondition(conditions: readonly WorkloadCondition[], condition: WorkloadCondition, now: number) {
  const before = findWorkloadCondition(conditions, condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const renewedCondition = {
    lastUpdateTime: rfc3339(now),
    lastTransitionTime: lastTransitionTime ?? rfc3339(now),
    ...condition,
  };
  return [...withoutWorkloadCondition(conditions, condition.type), renewedCondition];
}

/** All wanted pods are updated and available, and no others exist. */
export function isRolloutComplete({ spec, metadata }: Deployment, status: DeploymentStatus): boolean {
  const wanted = spec.replicas ?? 1;
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return (
    updatedReplicas === wanted &&
    replicas === wanted &&
    availableReplicas === wanted &&
    observedGeneration >= (metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(status: DeploymentStatus, { deadlineMs, now }: { deadlineMs: number; now: number }): boolean {
  const condition = findWorkloadCondition(status.conditions, "Progressing");
  if (condition === undefined || condition.reason === progressReasons.newSetAvailable) return false;
  if (condition.reason === progressReasons.deadlineExceeded) return true;
  return Date.parse(condition.lastUpdateTime ?? "") + deadlineMs < now;
}

/** When to check again whether a rollout has exceeded its progress deadline. */
export function deadlineCheckMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadlineMs = progressDeadlineMs(deployment);
  const condition = findWorkloadCondition(status.conditions, "Progressing");
  if (deadlineMs === undefined || condition === undefined || isRolloutComplete(deployment, status)) return undefined;
  const { deadlineExceeded, newSetAvailable } = progressReasons;
  if (condition.reason === deadlineExceeded || condition.reason === newSetAvailable) return undefined;
  return Math.max(0, Date.parse(condition.lastUpdateTime ?? "") + deadlineMs - now) + 1000;
}

/** The Progressing condition when a Deployment is paused or resumed; undefined otherwise. No deadline runs during a pause. */
export function pauseCondition(deployment: Deployment): WorkloadCondition | undefined {
  const condition = findWorkloadCondition(deployment.status?.conditions, "Progressing");
  if (progressDeadlineMs(deployment) === undefined || condition?.reason === progressReasons.deadlineExceeded) {
    return undefined;
  }
  const wasPaused = condition?.reason === progressReasons.paused;
  const isPaused = deployment.spec.paused === true;
  if (isPaused && !wasPaused) return progressCondition("Unknown", progressReasons.paused, "Deployment is paused");
  if (!isPaused && wasPaused) return progressCondition("Unknown", progressReasons.resumed, "Deployment is resumed");
  return undefined;
}
