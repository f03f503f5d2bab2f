import { rfc3339 } from "../../../api/times.ts";
import { sum } from "../counts.ts";
import { find, unlessZero, withCondition, without } from "../status.ts";
import type { Deployment, DeploymentStatus, ReplicaSet, WorkloadCondition } from "../types.ts";
import { maxUnavailable, type RolloutSpec } from "./rollout.ts";

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

/** A Deployment's sets at one moment. */
export interface RolloutState {
  readonly deployment: Deployment;
  readonly fresh: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  readonly now: number;
}

/** No deadline is written as the largest number, too. */
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

/** Counts and availability; what is said of progress stays as it is. */
export function countedStatus({ deployment, fresh, old, now }: RolloutState): DeploymentStatus {
  const sets = fresh === undefined ? old : [...old, fresh];
  const available = sum(sets, ({ status }) => status?.availableReplicas);
  const unavailable = Math.max(0, sum(sets, ({ spec }) => spec.replicas) - available);
  const spec = rolloutSpec(deployment);
  const isAvailable = available >= spec.replicas - maxUnavailable(spec);
  const conditions = withCondition(deployment.status?.conditions, isAvailable ? availableCondition : scarceCondition, {
    now,
    hasUpdateTime: true,
  });
  return {
    observedGeneration: deployment.metadata.generation,
    replicas: unlessZero(sum(sets, ({ status }) => status?.replicas)),
    updatedReplicas: unlessZero(fresh?.status?.replicas ?? 0),
    readyReplicas: unlessZero(sum(sets, ({ status }) => status?.readyReplicas)),
    availableReplicas: unlessZero(available),
    unavailableReplicas: unlessZero(unavailable),
    terminatingReplicas: sum(sets, ({ status }) => status?.terminatingReplicas),
    collisionCount: deployment.status?.collisionCount,
    conditions,
  };
}

const availableCondition: WorkloadCondition = {
  type: "Available",
  status: "True",
  reason: "MinimumReplicasAvailable",
  message: "Deployment has minimum availability.",
};
const scarceCondition: WorkloadCondition = {
  type: "Available",
  status: "False",
  reason: "MinimumReplicasUnavailable",
  message: "Deployment does not have minimum availability.",
};

/** The status in the course of a rollout: also whether it gets on, is over, or takes too long. (05:CP-L1) */
export function rolloutStatus(state: RolloutState): DeploymentStatus {
  const { deployment, fresh, old, now } = state;
  const counted = countedStatus(state);
  const before = find(counted.conditions, "Progressing");
  const deadlineMs = progressDeadlineMs(deployment);
  let conditions = counted.conditions ?? [];
  if (deadlineMs === undefined) conditions = without(conditions, "Progressing");
  const isOver = counted.replicas === counted.updatedReplicas && before?.reason === progressReasons.newSetAvailable;
  const progress = deadlineMs === undefined || isOver ? undefined : progressOf(state, { counted, deadlineMs });
  if (progress !== undefined) {
    const isNews = progress.reason === progressReasons.updated; // every bit of it moves the deadline
    conditions = isNews
      ? renewed(conditions, progress, now)
      : withCondition(conditions, progress, { now, hasUpdateTime: true });
  }
  const failure = [...(fresh === undefined ? [] : [fresh]), ...old]
    .map(({ status }) => find(status?.conditions, "ReplicaFailure"))
    .find((condition) => condition?.status === "True");
  conditions =
    failure === undefined
      ? without(conditions, "ReplicaFailure")
      : withCondition(conditions, failure, { now, hasUpdateTime: true });
  return { ...counted, conditions };
}

interface Counted {
  readonly counted: DeploymentStatus;
  readonly deadlineMs: number;
}

function progressOf({ deployment, fresh, now }: RolloutState, { counted, deadlineMs }: Counted) {
  const what = fresh === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${fresh.metadata.name}"`;
  if (isComplete(deployment, counted)) {
    return progressing("True", progressReasons.newSetAvailable, `${what} has successfully progressed.`);
  }
  if (hasProgressed(deployment.status ?? {}, counted)) {
    return progressing("True", progressReasons.updated, `${what} is progressing.`);
  }
  if (hasTimedOut(counted, { deadlineMs, now })) {
    return progressing("False", progressReasons.deadlineExceeded, `${what} has timed out progressing.`);
  }
  return undefined;
}

export function progressing(status: WorkloadCondition["status"], reason: string, message: string): WorkloadCondition {
  return { type: "Progressing", status, reason, message };
}

function renewed(conditions: readonly WorkloadCondition[], condition: WorkloadCondition, now: number) {
  const before = find(conditions, condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const renewedCondition = {
    lastUpdateTime: rfc3339(now),
    lastTransitionTime: lastTransitionTime ?? rfc3339(now),
    ...condition,
  };
  return [...without(conditions, condition.type), renewedCondition];
}

/** All pods are new ones, all there and all available. */
export function isComplete({ spec, metadata }: Deployment, status: DeploymentStatus): boolean {
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
  const condition = find(status.conditions, "Progressing");
  if (condition === undefined || condition.reason === progressReasons.newSetAvailable) return false;
  if (condition.reason === progressReasons.deadlineExceeded) return true;
  return Date.parse(condition.lastUpdateTime ?? "") + deadlineMs < now;
}

/** When a rollout that does not get on will have taken too long. */
export function deadlineCheckMs(deployment: Deployment, status: DeploymentStatus, now: number): number | undefined {
  const deadlineMs = progressDeadlineMs(deployment);
  const condition = find(status.conditions, "Progressing");
  if (deadlineMs === undefined || condition === undefined || isComplete(deployment, status)) return undefined;
  const { deadlineExceeded, newSetAvailable } = progressReasons;
  if (condition.reason === deadlineExceeded || condition.reason === newSetAvailable) return undefined;
  return Math.max(0, Date.parse(condition.lastUpdateTime ?? "") + deadlineMs - now) + 1000;
}

/** What a pause and its end say of progress, or undefined. A pause stops the clock of the deadline. */
export function pauseCondition(deployment: Deployment): WorkloadCondition | undefined {
  const condition = find(deployment.status?.conditions, "Progressing");
  if (progressDeadlineMs(deployment) === undefined || condition?.reason === progressReasons.deadlineExceeded) {
    return undefined;
  }
  const wasPaused = condition?.reason === progressReasons.paused;
  const isPaused = deployment.spec.paused === true;
  if (isPaused && !wasPaused) return progressing("Unknown", progressReasons.paused, "Deployment is paused");
  if (!isPaused && wasPaused) return progressing("Unknown", progressReasons.resumed, "Deployment is resumed");
  return undefined;
}
