import type { Pod, PodSpec, Volume } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName, namespaceOf } from "../../api/object.ts";
import type { Problem } from "../../api/problem.ts";
import type { InputNote } from "./input-note.ts";
import { nestedWorkloadsOf } from "./nested-workloads.ts";
import type { ReplicaChoice } from "./replica-range.ts";
import { scenarioKind } from "./scenario-kind.ts";
import { type ExpandableWorkload, type VolumeClaimTemplate, workloadOf } from "./workload.ts";
import { type PlannedWorkload, WorkloadReplicas, workloadKey } from "./workload-replicas.ts";

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
  readonly notes: readonly InputNote[];
}

export interface ExpansionOptions {
  /** How many pods of workloads with an autoscaler; what they start with by default. */
  readonly replicas?: ReplicaChoice;
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
export function expandWorkloads(
  objects: readonly KubeObject[],
  { replicas: choice = "current" }: ExpansionOptions = {},
): ExpandedWorkloads {
  const owned = controllerKeysOf(objects);
  const claims = new Set(objects.filter((one) => scenarioKind(one) === claimKind).map(workloadKey));
  const replicas = new WorkloadReplicas(objects, { choice, owned, podsOf: podCounter(objects) });
  const plannedAt = objects.map((object) => replicas.of(object));
  const problems = [...selfOwnerProblems(objects), ...tooManyPodsProblems(plannedAt)];
  if (problems.length > 0) return { objects: [], workloads: [], problems, notes: [] };
  const expanded: ExpandedObject[] = [];
  const workloads: KubeObject[] = [];
  for (const [sourceIndex, object] of objects.entries()) {
    const planned = plannedAt[sourceIndex];
    if (planned === undefined || planned.isRunning) expanded.push({ object, sourceIndex });
    if (planned === undefined) continue;
    if (!planned.isRunning) workloads.push(withCount(object, planned));
    for (const made of planned.workloads.flatMap(objectsOf))
      if (!claims.has(workloadKey(made))) expanded.push({ object: made, sourceIndex });
  }
  return { objects: expanded, workloads, problems, notes: replicas.notes };
}

/** The workload with the number of pods it is planned with: buffers of a percentage go by it. */
function withCount(object: KubeObject, { workloads }: PlannedWorkload): KubeObject {
  const { replicas = 1 } = (object.spec ?? {}) as { readonly replicas?: number };
  const [workload, ...others] = workloads;
  const isReplicated = others.length === 0 && workload?.countPath.length === 2 && workload.countPath[1] === "replicas";
  const count = workload?.count ?? 0;
  if ((workload !== undefined && !isReplicated) || count === replicas) return object;
  return { ...object, spec: { ...(object.spec as object), replicas: count } };
}

/** The first workload that is too much. They are counted before any pod is made. */
function tooManyPodsProblems(planned: readonly (PlannedWorkload | undefined)[]): readonly WorkloadProblem[] {
  let total = 0;
  for (const [sourceIndex, one] of planned.entries()) {
    for (const workload of one?.workloads ?? []) {
      total += workload.count * (1 + workload.claimTemplates.length);
      if (total > maxExpandedObjects) return [{ problem: tooManyPodsProblem(workload, total), sourceIndex }];
    }
  }
  return [];
}

function selfOwnerProblems(objects: readonly KubeObject[]): readonly WorkloadProblem[] {
  const ownsItself = selfOwnerCheck(objects);
  return objects.flatMap((object, sourceIndex) =>
    (workloadOf(object) ?? nestedWorkloadsOf(object)) !== undefined && ownsItself(object)
      ? [{ problem: selfOwnerProblem(object), sourceIndex }]
      : [],
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
  const ancestorsOf = ancestors(objects);
  return (object) => ancestorsOf(object).includes(workloadKey(object));
}

/** The controllers of an object, its own first; each once. */
function ancestors(objects: readonly KubeObject[]): (object: KubeObject) => readonly string[] {
  const ownerOf = new Map<string, string>();
  for (const object of objects) {
    const [owner] = controllersOf(object);
    if (owner !== undefined) ownerOf.set(workloadKey(object), owner);
  }
  return (object) => {
    const found = new Set<string>();
    let at = ownerOf.get(workloadKey(object));
    while (at !== undefined && !found.has(at)) {
      found.add(at);
      at = ownerOf.get(at);
    }
    return [...found];
  };
}

/** Counts the pods below a workload that are not over; the counting is done when it is first asked for. */
function podCounter(objects: readonly KubeObject[]): (key: string) => number {
  let counts: Map<string, number> | undefined;
  return (key) => {
    if (counts === undefined) {
      counts = new Map();
      const ancestorsOf = ancestors(objects);
      for (const pod of objects.filter(isUnfinishedPod))
        for (const owner of ancestorsOf(pod)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    return counts.get(key) ?? 0;
  };
}

function isUnfinishedPod(object: KubeObject): boolean {
  const { phase = "" } = (object.status ?? {}) as { readonly phase?: string };
  return scenarioKind(object) === "Pod" && phase !== "Succeeded" && phase !== "Failed";
}

const claimKind = "PersistentVolumeClaim";

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
