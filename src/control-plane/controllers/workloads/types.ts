import type { DaemonSet, PodTemplateSpec } from "../../../api/kubernetes/cluster-objects.ts";
import type { LabelSelector } from "../../../api/kubernetes/pod.ts";
import type { KubeObject, ObjectMeta } from "../../../api/object.ts";
import type { ObjectReference } from "../../../kube/event.ts";

/** A number, or a percentage like `25%`. */
export type CountOrPercent = number | string;

export interface WorkloadCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly lastProbeTime?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

/** What the specs of Deployments, ReplicaSets and StatefulSets share. */
interface ReplicatedSpec {
  readonly replicas?: number | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly template: PodTemplateSpec;
  readonly minReadySeconds?: number | undefined;
}

/** What their statuses share. */
interface ReplicatedStatus {
  readonly observedGeneration?: number | undefined;
  readonly replicas?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly availableReplicas?: number | undefined;
}

export interface Deployment extends KubeObject {
  readonly spec: ReplicatedSpec & {
    readonly strategy?: {
      readonly type?: "RollingUpdate" | "Recreate" | undefined;
      readonly rollingUpdate?: RollingUpdate | undefined;
    };
    readonly revisionHistoryLimit?: number | undefined;
    readonly progressDeadlineSeconds?: number | undefined;
    readonly paused?: boolean | undefined;
  };
  readonly status?: DeploymentStatus | undefined;
}

export interface RollingUpdate {
  readonly maxSurge?: CountOrPercent | undefined;
  readonly maxUnavailable?: CountOrPercent | undefined;
}

export interface DeploymentStatus extends ReplicatedStatus {
  readonly updatedReplicas?: number | undefined;
  readonly unavailableReplicas?: number | undefined;
  readonly terminatingReplicas?: number | undefined;
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly WorkloadCondition[] | undefined;
}

export interface ReplicaSet extends KubeObject {
  readonly spec: ReplicatedSpec;
  readonly status?: ReplicaSetStatus | undefined;
}

export interface ReplicaSetStatus extends ReplicatedStatus {
  readonly fullyLabeledReplicas?: number | undefined;
  readonly terminatingReplicas?: number | undefined;
  readonly conditions?: readonly WorkloadCondition[] | undefined;
}

export interface ControllerRevision extends KubeObject {
  readonly data: RevisionData;
  readonly revision: number;
}

export interface RevisionData {
  readonly spec: { readonly template: PodTemplateSpec & { readonly $patch: "replace" } };
}

export interface StatefulSet extends KubeObject {
  readonly spec: ReplicatedSpec & {
    readonly serviceName?: string | undefined;
    readonly podManagementPolicy?: "OrderedReady" | "Parallel" | undefined;
    readonly updateStrategy?: {
      readonly type?: "RollingUpdate" | "OnDelete" | undefined;
      readonly rollingUpdate?: { readonly partition?: number | undefined } | undefined;
    };
    readonly ordinals?: { readonly start?: number | undefined } | undefined;
    readonly revisionHistoryLimit?: number | undefined;
    readonly volumeClaimTemplates?: readonly KubeObject[] | undefined;
    readonly persistentVolumeClaimRetentionPolicy?:
      | { readonly whenDeleted?: string | undefined; readonly whenScaled?: string | undefined }
      | undefined;
  };
  readonly status?: StatefulSetStatus | undefined;
}

export interface StatefulSetStatus extends ReplicatedStatus {
  readonly currentReplicas?: number | undefined;
  readonly updatedReplicas?: number | undefined;
  readonly currentRevision?: string | undefined;
  readonly updateRevision?: string | undefined;
  readonly collisionCount?: number | undefined;
}

export interface DaemonSetObject extends DaemonSet {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: DaemonSet["spec"] & {
    readonly minReadySeconds?: number | undefined;
    readonly revisionHistoryLimit?: number | undefined;
    readonly updateStrategy?: {
      readonly type?: "RollingUpdate" | "OnDelete" | undefined;
      readonly rollingUpdate?: RollingUpdate | undefined;
    };
  };
  readonly status?: DaemonSetStatus | undefined;
}

export interface DaemonSetStatus {
  readonly observedGeneration?: number | undefined;
  readonly currentNumberScheduled?: number | undefined;
  readonly desiredNumberScheduled?: number | undefined;
  readonly numberMisscheduled?: number | undefined;
  readonly numberReady?: number | undefined;
  readonly updatedNumberScheduled?: number | undefined;
  readonly numberAvailable?: number | undefined;
  readonly numberUnavailable?: number | undefined;
  readonly collisionCount?: number | undefined;
}

export interface Job extends KubeObject {
  readonly spec: JobSpec;
  readonly status?: JobStatus | undefined;
}

export interface JobSpec {
  readonly selector?: LabelSelector | undefined;
  readonly template: PodTemplateSpec;
  readonly parallelism?: number | undefined;
  readonly completions?: number | undefined;
  readonly completionMode?: "NonIndexed" | "Indexed" | undefined;
  readonly backoffLimit?: number | undefined;
  readonly activeDeadlineSeconds?: number | undefined;
  readonly ttlSecondsAfterFinished?: number | undefined;
  readonly suspend?: boolean | undefined;
  readonly podReplacementPolicy?: "TerminatingOrFailed" | "Failed" | undefined;
  readonly podFailurePolicy?: { readonly rules?: readonly PodFailurePolicyRule[] | undefined } | undefined;
}

export interface PodFailurePolicyRule {
  readonly action: "FailJob" | "FailIndex" | "Ignore" | "Count";
  readonly onExitCodes?:
    | {
        readonly containerName?: string | undefined;
        readonly operator: "In" | "NotIn";
        readonly values?: readonly number[] | undefined;
      }
    | undefined;
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string | undefined }[] | undefined;
}

export interface JobStatus {
  readonly active?: number | undefined;
  readonly ready?: number | undefined;
  readonly terminating?: number | undefined;
  readonly succeeded?: number | undefined;
  readonly failed?: number | undefined;
  readonly startTime?: string | undefined;
  readonly completionTime?: string | undefined;
  readonly completedIndexes?: string | undefined;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods | undefined;
  readonly conditions?: readonly WorkloadCondition[] | undefined;
}

interface UncountedTerminatedPods {
  readonly succeeded?: readonly string[] | undefined;
  readonly failed?: readonly string[] | undefined;
}

export interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string | undefined;
    readonly startingDeadlineSeconds?: number | undefined;
    readonly concurrencyPolicy?: "Allow" | "Forbid" | "Replace" | undefined;
    readonly suspend?: boolean | undefined;
    readonly jobTemplate: { readonly metadata?: Pick<ObjectMeta, "labels" | "annotations">; readonly spec: JobSpec };
    readonly successfulJobsHistoryLimit?: number | undefined;
    readonly failedJobsHistoryLimit?: number | undefined;
  };
  readonly status?: CronJobStatus | undefined;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[] | undefined;
  readonly lastScheduleTime?: string | undefined;
  readonly lastSuccessfulTime?: string | undefined;
}

export interface PodDisruptionBudgetObject extends KubeObject {
  readonly spec: {
    readonly selector?: LabelSelector | undefined;
    readonly minAvailable?: CountOrPercent | undefined;
    readonly maxUnavailable?: CountOrPercent | undefined;
    readonly unhealthyPodEvictionPolicy?: string | undefined;
  };
  readonly status?: PodDisruptionBudgetStatus | undefined;
}

export interface PodDisruptionBudgetStatus {
  readonly observedGeneration?: number | undefined;
  readonly disruptedPods?: Readonly<Record<string, string>> | undefined;
  readonly disruptionsAllowed?: number | undefined;
  readonly currentHealthy?: number | undefined;
  readonly desiredHealthy?: number | undefined;
  readonly expectedPods?: number | undefined;
  readonly conditions?: readonly WorkloadCondition[] | undefined;
}
