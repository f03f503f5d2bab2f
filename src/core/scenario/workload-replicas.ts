import type { PodTemplateSpec } from "../../api/kubernetes/cluster-objects.ts";
import { isRecord, type KubeObject, namespacedName, namespaceOf } from "../../api/object.ts";
import type { InputNote } from "./input-note.ts";
import { nestedOwnerKeys, nestedWorkloadsOf } from "./nested-workloads.ts";
import { hasOneReplicaByDefault, isTemplatedKind, type WorkloadRef, workloadRefOf } from "./pod-template.ts";
import { autoscalerOf, plannedReplicas, type ReplicaChoice, type ReplicaRange } from "./replica-range.ts";
import { scenarioKind } from "./scenario-kind.ts";
import { type ExpandableWorkload, workloadOf } from "./workload.ts";

/** How many pods a workload is planned with, after autoscalers and Rollouts that refer to it. */
export interface PlannedWorkload {
  /** One, or as many as its kind has templates. */
  readonly workloads: readonly ExpandableWorkload[];
  /** Some of its pods are in the input: the object stays, and these are further ones. */
  readonly isRunning: boolean;
}

/** Kind, namespace and name. */
export function workloadKey({ kind, metadata }: KubeObject): string {
  return `${kind}/${namespacedName(metadata)}`;
}

export interface WorkloadReplicasOptions {
  readonly choice: ReplicaChoice;
  /** Workloads whose pods or ReplicaSets are in the input. */
  readonly owned: ReadonlySet<string>;
  /** How many pods in the input belong to a workload, directly or through others. */
  readonly podsOf: (key: string) => number;
}

/** Decides for each object which pods it adds to the input. */
export class WorkloadReplicas {
  readonly notes: InputNote[] = [];
  readonly #options: WorkloadReplicasOptions;
  readonly #byKey: ReadonlyMap<string, KubeObject>;
  readonly #ranges = new Map<string, ReplicaRange>();
  /** Workloads that a Rollout scales to zero, because it runs their pods. */
  readonly #replaced = new Map<string, KubeObject>();

  constructor(objects: readonly KubeObject[], options: WorkloadReplicasOptions) {
    this.#options = options;
    this.#byKey = new Map(objects.map((object) => [workloadKey(object), object]));
    for (const object of objects) {
      this.#addAutoscaler(object);
      this.#addRollout(object);
    }
  }

  of(object: KubeObject): PlannedWorkload | undefined {
    const nested = this.#nested(object);
    if (nested !== undefined) return nested;
    const workload = workloadOf(this.#withTemplate(object));
    if (workload === undefined) return undefined;
    const key = workloadKey(object);
    const range = this.#ranges.get(key);
    if (this.#options.owned.has(key)) return this.#running(workload, { object, range });
    if (range === undefined) return this.#unscaled(workload, object);
    const count = plannedReplicas(workload.count, range, this.#options.choice);
    this.#noteRange(object, { planned: count, range });
    return { workloads: [{ ...workload, count }], isRunning: false };
  }

  /** Kinds with several templates: an autoscaler changes their spec.replicas, as it does to others. */
  #nested(object: KubeObject): PlannedWorkload | undefined {
    const workloads = nestedWorkloadsOf(object);
    if (workloads === undefined) return undefined;
    const running = { workloads: [], isRunning: true };
    if (nestedOwnerKeys(object, workloads).some((key) => this.#options.owned.has(key))) return running;
    const range = this.#ranges.get(workloadKey(object));
    if (range === undefined) return { workloads, isRunning: false };
    const { replicas: written = 1, ...spec } = object.spec as { readonly replicas?: number };
    const replicas = plannedReplicas(written, range, this.#options.choice);
    this.#noteRange(object, { planned: replicas, range });
    return { workloads: nestedWorkloadsOf({ ...object, spec: { ...spec, replicas } }) ?? [], isRunning: false };
  }

  #unscaled(workload: ExpandableWorkload, object: KubeObject): PlannedWorkload | undefined {
    const rollout = this.#replaced.get(workloadKey(object));
    if (rollout !== undefined) return { workloads: [], isRunning: false };
    const isCounted = scenarioKind(object) !== undefined || hasReplicas(object) || hasOneReplicaByDefault(object);
    if (isCounted) return { workloads: [workload], isRunning: false };
    this.notes.push({ code: "pods-not-planned", workload: nameOf(object), because: "no-replicas" });
    return { workloads: [], isRunning: false };
  }

  /** Only the largest number adds pods to those that run: none is taken away. */
  #running(
    workload: ExpandableWorkload,
    { object, range }: { readonly object: KubeObject; readonly range: ReplicaRange | undefined },
  ): PlannedWorkload | undefined {
    if (range === undefined) return undefined;
    const running = this.#options.podsOf(workloadKey(object));
    const count = this.#options.choice === "max" && running > 0 ? Math.max(range.most - running, 0) : 0;
    this.#noteRange(object, { planned: running + count, range });
    return count === 0 ? undefined : { workloads: [{ ...workload, count, first: running }], isRunning: true };
  }

  #noteRange(object: KubeObject, about: { readonly planned: number; readonly range: ReplicaRange }): void {
    this.notes.push({ code: "replica-range", workload: nameOf(object), ...about });
  }

  #addAutoscaler(object: KubeObject): void {
    const autoscaler = autoscalerOf(object);
    if (autoscaler === undefined) return;
    const { target, range } = autoscaler;
    if (this.#byKey.has(target)) this.#ranges.set(target, range);
    else this.notes.push({ code: "autoscaler-without-target", autoscaler: range.autoscaler, target });
  }

  /** A Rollout that refers to a Deployment runs its template; unless told to, it leaves the Deployment's own pods alone. */
  #addRollout(object: KubeObject): void {
    const ref = workloadRefOf(object);
    const target = ref && this.#byKey.get(refKey(object, ref));
    if (ref === undefined) return;
    if (target === undefined) {
      this.notes.push({ code: "workload-ref-missing", workload: nameOf(object), target: `${ref.kind} ${ref.name}` });
      return;
    }
    if (ref.scaleDown === "onsuccess" || ref.scaleDown === "progressively") {
      this.#replaced.set(workloadKey(target), object);
      return;
    }
    const count = workloadOf(target)?.count ?? 0;
    if (count === 0) return;
    this.notes.push({ code: "workload-runs-twice", workload: nameOf(object), target: nameOf(target), count });
  }

  /** The object with the template it refers to. */
  #withTemplate(object: KubeObject): KubeObject {
    const ref = workloadRefOf(object);
    const target = ref && (this.#byKey.get(refKey(object, ref)) as TemplateHolder | undefined);
    const template = target?.spec?.template ?? target?.template;
    if (template === undefined || !isTemplatedKind(object)) return object;
    return { ...object, spec: { ...(object.spec as object), template } };
  }
}

/** A workload, or a PodTemplate, which keeps its template beside its metadata. */
interface TemplateHolder {
  readonly template?: PodTemplateSpec;
  readonly spec?: { readonly template?: PodTemplateSpec };
}

function refKey({ metadata }: KubeObject, { kind, name }: WorkloadRef): string {
  return `${kind}/${namespaceOf(metadata)}/${name}`;
}

function hasReplicas({ spec }: KubeObject): boolean {
  return isRecord(spec) && typeof spec["replicas"] === "number";
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${namespacedName(metadata)}`;
}
