import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import { apiGroupOf, isRecord, type KubeObject } from "../../api/object.ts";
import { scenarioKind } from "./scenario-kind.ts";

/** Whether a value is what pods are made from: it has a pod's spec with containers. */
function isPodTemplate(value: unknown): value is PodTemplateSpec {
  return isRecord(value) && isRecord(value["spec"]) && Array.isArray(value["spec"]["containers"]);
}

/** Kinds that run one replica if none is written. Of others it is not known what they run then. */
const kindsWithOneReplica: ReadonlySet<string> = new Set([
  "argoproj.io/Rollout",
  "apps.kruise.io/CloneSet",
  "apps.kruise.io/StatefulSet",
  "kubeflow.org/Notebook",
  "agones.dev/GameServer",
]);

/** A reference to the workload that has the template, as Argo Rollouts has it. */
export interface WorkloadRef {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
  /** `never` by default: the referenced workload keeps its own pods. */
  readonly scaleDown?: string;
}

/** Whether a kind we have no table for runs pods: it has a pod template where Deployments have theirs, or refers to one. */
export function isTemplatedKind(object: KubeObject): boolean {
  if (scenarioKind(object) !== undefined || !isRecord(object.spec)) return false;
  return isPodTemplate(object.spec["template"]) || workloadRefOf(object) !== undefined;
}

/** Whether such a kind runs one replica unless it says otherwise. */
export function hasOneReplicaByDefault({ apiVersion, kind }: KubeObject): boolean {
  return kindsWithOneReplica.has(`${apiGroupOf(apiVersion)}/${kind}`);
}

/** The workload a Rollout takes its template from. */
export function workloadRefOf({ apiVersion, kind, spec }: KubeObject): WorkloadRef | undefined {
  if (apiGroupOf(apiVersion) !== "argoproj.io" || kind !== "Rollout" || !isRecord(spec)) return undefined;
  const ref = spec["workloadRef"];
  const isComplete = isRecord(ref) && typeof ref["kind"] === "string" && typeof ref["name"] === "string";
  return isComplete ? (ref as unknown as WorkloadRef) : undefined;
}

/** How deep a kind may hide its pod templates: PyTorchJobs, RayClusters and JobSets need five steps at most. */
const maxTemplateDepth = 8;

/** Whether a pod template is anywhere in an object. */
export function hasHiddenPodTemplate(object: KubeObject): boolean {
  return holdsPodTemplate(object.spec, maxTemplateDepth);
}

function holdsPodTemplate(value: unknown, depth: number): boolean {
  if (depth === 0 || typeof value !== "object" || value === null) return false;
  if (isPodTemplate(value)) return true;
  return Object.values(value).some((inner) => holdsPodTemplate(inner, depth - 1));
}
