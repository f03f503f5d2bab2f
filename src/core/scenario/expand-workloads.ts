import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import type { PersistentVolumeClaimSpec, Pod, PodSpec, Volume } from "../../api/kubernetes/pod.ts";
import {
  type KubeObject,
  namespacedName,
  namespaceOf,
  type ObjectMeta,
  type OwnerReference,
} from "../../api/object.ts";
import { scenarioKind } from "./scenario-kind.ts";

/** An object and the index of the one it comes from. */
export interface ExpandedObject {
  readonly object: KubeObject;
  readonly sourceIndex: number;
}

/** Objects with workloads replaced by their pods. */
export interface ExpandedWorkloads {
  readonly objects: readonly ExpandedObject[];
  /** The workloads that were replaced; buffers may refer to them. */
  readonly workloads: readonly KubeObject[];
}

/**
 * Replaces each workload by its pods NAME-0, NAME-1, …, which are bound if the template names a node. A workload whose
 * own objects are among the input (a Deployment's ReplicaSet, a Job's pods) is kept as it is.
 */
export function expandWorkloads(objects: readonly KubeObject[]): ExpandedWorkloads {
  const owned = controllerKeysOf(objects);
  const claims = new Set(objects.filter((one) => scenarioKind(one) === claimKind).map(ownerKey));
  const expanded: ExpandedObject[] = [];
  const workloads: KubeObject[] = [];
  for (const [from, object] of objects.entries()) {
    const workload = workloadOf(object);
    if (workload === undefined || owned.has(ownerKey(object))) {
      expanded.push({ object, sourceIndex: from });
      continue;
    }
    workloads.push(object);
    for (const made of objectsOf(workload))
      if (!claims.has(ownerKey(made))) expanded.push({ object: made, sourceIndex: from });
  }
  return { objects: expanded, workloads };
}

const claimKind = "PersistentVolumeClaim";

/** The parts of a workload its pods are made from. */
interface ExpandableWorkload {
  readonly metadata: ObjectMeta;
  readonly template: PodTemplateSpec;
  readonly count: number;
  readonly owner: OwnerReference;
  /** Number of the first pod. */
  readonly first: number;
  readonly claimTemplates: readonly VolumeClaimTemplate[];
}

interface VolumeClaimTemplate {
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

function workloadOf(object: KubeObject): ExpandableWorkload | undefined {
  switch (scenarioKind(object)) {
    case "Deployment":
      return replicatedWorkload(object, { kind: "ReplicaSet" });
    case "ReplicaSet":
    case "StatefulSet":
      return replicatedWorkload(object, { kind: object.kind });
    case "Job":
      return jobWorkload(object, object.spec as JobSpec);
    case "CronJob": {
      // The pods of one run.
      const { suspend, jobTemplate } = object.spec as CronJobSpec;
      return jobWorkload(object, { ...jobTemplate.spec, ...(suspend === true && { suspend }) });
    }
    default:
      return undefined;
  }
}

function replicatedWorkload({ metadata, spec }: KubeObject, { kind }: { readonly kind: string }): ExpandableWorkload {
  const { template, replicas = 1, ordinals, volumeClaimTemplates = [] } = spec as WorkloadSpec;
  return {
    metadata,
    template,
    count: replicas,
    owner: ownerReferenceTo(metadata, { apiVersion: "apps/v1", kind }),
    first: ordinals?.start ?? 0,
    claimTemplates: volumeClaimTemplates,
  };
}

/** As many pods as run at once; none if the job is finished or suspended. */
function jobWorkload({ metadata, status }: KubeObject, spec: JobSpec): ExpandableWorkload {
  const { template, parallelism = 1, completions = Number.POSITIVE_INFINITY, suspend = false } = spec;
  return {
    metadata,
    template,
    count: suspend || isOver(status) ? 0 : Math.min(parallelism, completions),
    owner: ownerReferenceTo(metadata, { apiVersion: "batch/v1", kind: "Job" }),
    first: 0,
    claimTemplates: [],
  };
}

function isOver(status: unknown): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some((one) => (one.type === "Complete" || one.type === "Failed") && one.status === "True");
}

function ownerReferenceTo(
  { name = "", uid }: ObjectMeta,
  { apiVersion, kind }: Pick<OwnerReference, "apiVersion" | "kind">,
) {
  return { apiVersion, kind, name, uid: uid ?? name, controller: true };
}

function objectsOf(workload: ExpandableWorkload): readonly KubeObject[] {
  const { metadata, template, count, first } = workload;
  // Equal parts are shared, so that equal pods can be recognized by identity.
  const shared = {
    ...template.metadata,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    ownerReferences: [workload.owner],
  };
  return Array.from({ length: count }, (_, index) => {
    const name = `${metadata.name ?? ""}-${first + index}`;
    const claims = workload.claimTemplates.map((one) =>
      volumeClaimFromTemplate(one, { pod: name, namespace: metadata.namespace }),
    );
    const pod: Pod & KubeObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...shared, name },
      spec: withVolumeClaims(template.spec, { claims, templates: workload.claimTemplates }),
    };
    return [...claims, pod];
  }).flat();
}

/** The StatefulSet controller creates the claims before the pod. */
function volumeClaimFromTemplate(
  { metadata, spec }: VolumeClaimTemplate,
  { pod, namespace }: { readonly pod: string; readonly namespace: string | undefined },
): KubeObject {
  return {
    apiVersion: "v1",
    kind: claimKind,
    metadata: { ...metadata, name: `${metadata.name ?? ""}-${pod}`, ...(namespace !== undefined && { namespace }) },
    spec: spec ?? {},
  };
}

function withVolumeClaims(
  spec: PodSpec,
  { claims, templates }: { readonly claims: readonly KubeObject[]; readonly templates: readonly VolumeClaimTemplate[] },
): PodSpec {
  if (claims.length === 0) return spec;
  const names = new Set(templates.map(({ metadata }) => metadata.name));
  const own = templates.map(
    ({ metadata }, index): Volume => ({
      name: metadata.name ?? "",
      persistentVolumeClaim: { claimName: claims[index]?.metadata.name ?? "" },
    }),
  );
  return { ...spec, volumes: [...(spec.volumes ?? []).filter(({ name }) => !names.has(name)), ...own] };
}

/** Workloads that own objects among these. */
function controllerKeysOf(objects: readonly KubeObject[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { metadata } of objects) {
    for (const { kind, name, controller } of metadata.ownerReferences ?? []) {
      if (controller === true) keys.add(`${kind}/${namespaceOf(metadata)}/${name}`);
    }
  }
  return keys;
}

function ownerKey({ kind, metadata }: KubeObject): string {
  return `${kind}/${namespacedName(metadata)}`;
}
