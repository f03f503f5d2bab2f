import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import type { PersistentVolumeClaimSpec } from "../../api/kubernetes/pod.ts";
import { apiGroupOf, isRecord, type KubeObject, type ObjectMeta, type OwnerReference } from "../../api/object.ts";
import type { FieldPath } from "../../api/problem.ts";
import { isTemplatedKind } from "./pod-template.ts";
import { scenarioKind } from "./scenario-kind.ts";

/** The parts of a workload its pods are made from. */
export interface ExpandableWorkload {
  readonly metadata: ObjectMeta;
  readonly template: PodTemplateSpec;
  readonly count: number;
  /** The field that holds the count. */
  readonly countPath: FieldPath;
  readonly owner: OwnerReference;
  /** Number of the first pod. */
  readonly first: number;
  readonly claimTemplates: readonly VolumeClaimTemplate[];
}

export interface VolumeClaimTemplate {
  readonly metadata: ObjectMeta;
  readonly spec?: PersistentVolumeClaimSpec;
}

/** The fields of workloads that decide the number of pods. */
interface WorkloadSpec {
  readonly template: PodTemplateSpec;
  readonly replicas?: number;
  readonly ordinals?: { readonly start?: number };
  readonly volumeClaimTemplates?: readonly VolumeClaimTemplate[];
}

interface JobSpec {
  readonly template: PodTemplateSpec;
  readonly parallelism?: number;
  readonly completions?: number;
  readonly suspend?: boolean;
}

interface CronJobSpec {
  readonly suspend?: boolean;
  readonly jobTemplate: { readonly spec: JobSpec };
}

/** What an object's pods are made from; undefined if it makes none. */
export function workloadOf(object: KubeObject): ExpandableWorkload | undefined {
  switch (scenarioKind(object)) {
    case "Deployment":
      return replicatedWorkload(object, replicaSetKind);
    case "ReplicaSet":
    case "StatefulSet":
      return replicatedWorkload(object, { apiVersion: "apps/v1", kind: object.kind });
    case "ReplicationController":
      return replicatedWorkload(object, object);
    case "Job":
      return jobWorkload(object, object.spec as JobSpec, ["spec"]);
    case "CronJob": {
      // The pods of one run.
      const { suspend, jobTemplate } = object.spec as CronJobSpec;
      const spec = { ...jobTemplate.spec, ...(suspend === true && { suspend }) };
      return jobWorkload(object, spec, ["spec", "jobTemplate", "spec"]);
    }
    case undefined:
      return templatedWorkload(object);
    default:
      return undefined;
  }
}

const replicaSetKind: OwnerKind = { apiVersion: "apps/v1", kind: "ReplicaSet" };

type OwnerKind = Pick<OwnerReference, "apiVersion" | "kind">;

/** Kinds we have no table for. Rollouts run their pods through ReplicaSets, as Deployments do; others own them. */
function templatedWorkload(object: KubeObject): ExpandableWorkload | undefined {
  if (!isTemplatedKind(object) || !isRecord(object.spec) || object.spec["template"] === undefined) return undefined;
  const isRollout = apiGroupOf(object.apiVersion) === "argoproj.io" && object.kind === "Rollout";
  return replicatedWorkload(object, isRollout ? replicaSetKind : object);
}

function replicatedWorkload({ metadata, spec }: KubeObject, owner: OwnerKind): ExpandableWorkload {
  const { template, replicas = 1, ordinals, volumeClaimTemplates = [] } = spec as WorkloadSpec;
  return {
    metadata,
    template,
    count: replicas,
    countPath: ["spec", "replicas"],
    owner: ownerReferenceTo(metadata, owner),
    first: ordinals?.start ?? 0,
    claimTemplates: volumeClaimTemplates,
  };
}

/** As many pods as run at once; none if the job is finished or suspended. */
function jobWorkload({ metadata, status }: KubeObject, spec: JobSpec, specPath: FieldPath): ExpandableWorkload {
  const { template, parallelism = 1, completions = Number.POSITIVE_INFINITY, suspend = false } = spec;
  return {
    metadata,
    template,
    count: suspend || isOver(status) ? 0 : Math.min(parallelism, completions),
    countPath: [...specPath, "parallelism"],
    owner: ownerReferenceTo(metadata, { apiVersion: "batch/v1", kind: "Job" }),
    first: 0,
    claimTemplates: [],
  };
}

function isOver(status: unknown): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some((one) => (one.type === "Complete" || one.type === "Failed") && one.status === "True");
}

function ownerReferenceTo({ name = "", uid }: ObjectMeta, { apiVersion, kind }: OwnerKind): OwnerReference {
  return { apiVersion, kind, name, uid: uid ?? name, controller: true };
}
