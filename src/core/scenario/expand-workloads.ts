import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import type { PersistentVolumeClaimSpec, Pod, PodSpec, Volume } from "../../api/kubernetes/pod.ts";
import {
  type KubeObject,
  namespacedName,
  namespaceOf,
  type ObjectMeta,
  type OwnerReference,
} from "../../api/object.ts";
import type { FieldPath, Problem } from "../../api/problem.ts";
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
  /** Workloads that cannot be replaced, and why; then none is. */
  readonly problems: readonly WorkloadProblem[];
}

interface WorkloadProblem {
  readonly problem: Problem;
  readonly sourceIndex: number;
}

/** Pods and volume claims of all workloads together: more would fill the memory. */
const maxExpandedObjects = 200_000;

/**
 * Replaces each workload by its pods NAME-0, NAME-1, …, which are bound if the template names a node. A workload whose
 * own objects are among the input (a Deployment's ReplicaSet, a Job's pods) is kept as it is.
 */
export function expandWorkloads(objects: readonly KubeObject[]): ExpandedWorkloads {
  const owned = controllerKeysOf(objects);
  const claims = new Set(objects.filter((one) => scenarioKind(one) === claimKind).map(ownerKey));
  const workloadAt = objects.map((object) => (owned.has(ownerKey(object)) ? undefined : workloadOf(object)));
  const problems = [...selfOwnerProblems(objects), ...tooManyPodsProblems(workloadAt)];
  if (problems.length > 0) return { objects: [], workloads: [], problems };
  const expanded: ExpandedObject[] = [];
  const workloads: KubeObject[] = [];
  for (const [sourceIndex, object] of objects.entries()) {
    const workload = workloadAt[sourceIndex];
    if (workload === undefined) {
      expanded.push({ object, sourceIndex });
      continue;
    }
    workloads.push(object);
    for (const made of objectsOf(workload))
      if (!claims.has(ownerKey(made))) expanded.push({ object: made, sourceIndex });
  }
  return { objects: expanded, workloads, problems };
}

/** The first workload that is too much. They are counted before any pod is made. */
function tooManyPodsProblems(workloads: readonly (ExpandableWorkload | undefined)[]): readonly WorkloadProblem[] {
  let total = 0;
  for (const [sourceIndex, workload] of workloads.entries()) {
    if (workload === undefined) continue;
    total += workload.count * (1 + workload.claimTemplates.length);
    if (total > maxExpandedObjects) return [{ problem: tooManyPodsProblem(workload, total), sourceIndex }];
  }
  return [];
}

function selfOwnerProblems(objects: readonly KubeObject[]): readonly WorkloadProblem[] {
  const ownsItself = selfOwnerCheck(objects);
  return objects.flatMap((object, sourceIndex) =>
    workloadOf(object) !== undefined && ownsItself(object) ? [{ problem: selfOwnerProblem(object), sourceIndex }] : [],
  );
}

function tooManyPodsProblem({ countPath, claimTemplates }: ExpandableWorkload, total: number): Problem {
  const what = claimTemplates.length > 0 ? "pods and volume claims" : "pods";
  const most = maxExpandedObjects.toLocaleString("en-US");
  return {
    code: "too-large",
    path: countPath,
    message: `with this workload the input has ${total.toLocaleString("en-US")} ${what}: more than fit into memory`,
    expected: `at most ${most} of all workloads together; lower it, or plan parts of the input`,
  };
}

function selfOwnerProblem({ kind, metadata }: KubeObject): Problem {
  return {
    code: "invalid-value",
    path: ["metadata", "ownerReferences"],
    message: `${kind} ${namespacedName(metadata)} is its own owner, directly or through others, so nothing creates its pods`,
    expected: "an owner that is not part of it; remove the reference",
  };
}

/** Whether following controller references from an object leads back to it. */
function selfOwnerCheck(objects: readonly KubeObject[]): (object: KubeObject) => boolean {
  const ownerOf = new Map<string, string>();
  for (const object of objects) {
    const [owner] = controllersOf(object);
    if (owner !== undefined) ownerOf.set(ownerKey(object), owner);
  }
  return (object) => {
    const start = ownerKey(object);
    const seen = new Set<string>();
    let at = ownerOf.get(start);
    while (at !== undefined && at !== start && !seen.has(at)) {
      seen.add(at);
      at = ownerOf.get(at);
    }
    return at === start;
  };
}

const claimKind = "PersistentVolumeClaim";

/** The parts of a workload its pods are made from. */
interface ExpandableWorkload {
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
      return jobWorkload(object, object.spec as JobSpec, ["spec"]);
    case "CronJob": {
      // The pods of one run.
      const { suspend, jobTemplate } = object.spec as CronJobSpec;
      const spec = { ...jobTemplate.spec, ...(suspend === true && { suspend }) };
      return jobWorkload(object, spec, ["spec", "jobTemplate", "spec"]);
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
    countPath: ["spec", "replicas"],
    owner: ownerReferenceTo(metadata, { apiVersion: "apps/v1", kind }),
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
  return new Set(objects.flatMap(controllersOf));
}

function controllersOf({ metadata }: KubeObject): readonly string[] {
  return (metadata.ownerReferences ?? [])
    .filter(({ controller }) => controller === true)
    .map(({ kind, name }) => `${kind}/${namespaceOf(metadata)}/${name}`);
}

function ownerKey({ kind, metadata }: KubeObject): string {
  return `${kind}/${namespacedName(metadata)}`;
}
