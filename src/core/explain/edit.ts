import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { PersistentVolumeClaim, StorageClass } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Taint } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { applyOperation, type PatchOperation } from "./json-patch.ts";

/** A JSON patch operation on one object. */
export interface Edit extends PatchOperation {
  readonly object: EditedObject;
}

export interface EditedObject {
  readonly kind: EditedKind;
  readonly namespace?: string;
  readonly name: string;
  /** The workload whose template the pod comes from: its other pods change as well. */
  readonly workload?: { readonly kind: string; readonly name: string };
}

/** Not the PersistentVolume: data stays where it is. */
type EditedKind = "Pod" | "NodePool" | "Node" | "PersistentVolumeClaim" | "StorageClass" | "EC2NodeClass";

/** The problem with the edits applied, one after the other. */
export function applyEdits(problem: SchedulingProblem, edits: readonly Edit[]): SchedulingProblem {
  return edits.reduce(applyEdit, problem);
}

function applyEdit(problem: SchedulingProblem, edit: Edit): SchedulingProblem {
  const { kind, name, namespace } = edit.object;
  const key = namespacedName({ namespace, name });
  const { volumes } = problem;
  switch (kind) {
    case "Pod":
      return editPods(problem, edit);
    case "NodePool": {
      const edited = (nodePool: NodePool): NodePool =>
        nodePool.metadata.name === name ? applyOperation(nodePool, edit) : nodePool;
      return { ...problem, pools: problem.pools.map((pool) => ({ ...pool, nodePool: edited(pool.nodePool) })) };
    }
    case "EC2NodeClass":
      return problem; // what follows from it is up to the provider
    case "Node":
      return editNode(problem, edit);
    case "PersistentVolumeClaim":
      return {
        ...problem,
        volumes: { ...volumes, claims: editMap<PersistentVolumeClaim>(volumes.claims, key, edit) },
      };
    case "StorageClass":
      return { ...problem, volumes: { ...volumes, classes: editMap<StorageClass>(volumes.classes, name, edit) } };
  }
}

/** A pending pod, with those of the same template, or a bound one. */
function editPods(problem: SchedulingProblem, edit: Edit): SchedulingProblem {
  const key = namespacedName(edit.object);
  const isEditedPod = (pod: Pod): boolean => namespacedName(pod.metadata) === key;
  const template = problem.pods.find(isEditedPod);
  const isSibling = (pod: Pod): boolean => template !== undefined && areFromSameTemplate(pod, template);
  const edited = (pod: Pod): Pod => (isEditedPod(pod) || isSibling(pod) ? applyOperation(pod, edit) : pod);
  return {
    ...problem,
    pods: problem.pods.map(edited),
    ...(template === undefined && {
      boundPods: problem.boundPods.map((pod) => (isEditedPod(pod) ? applyOperation(pod, edit) : pod)),
    }),
  };
}

/** Pods of one workload with the same spec: a change of its template changes them all. */
export function areFromSameTemplate(a: Pod, b: Pod): boolean {
  if (a === b) return true;
  const [one, other] = [podController(a), podController(b)];
  if (one === undefined || other === undefined || a.metadata.namespace !== b.metadata.namespace) return false;
  return one.kind === other.kind && one.name === other.name && one.uid === other.uid && haveEqualSpecs(a, b);
}

function haveEqualSpecs(a: Pod, b: Pod): boolean {
  return a.spec === b.spec || JSON.stringify(a.spec) === JSON.stringify(b.spec);
}

export function podController({ metadata }: Pod) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Scheduling reads only labels and taints of a Node. */
function editNode(problem: SchedulingProblem, edit: Edit): SchedulingProblem {
  const { name } = edit.object;
  const edited = <T extends { labels: Readonly<Record<string, string>>; taints: readonly Taint[] }>(node: T): T => {
    const { labels, taints } = node;
    const { metadata, spec } = applyOperation({ metadata: { labels }, spec: { taints } }, edit);
    return { ...node, labels: metadata.labels ?? {}, taints: spec.taints ?? [] };
  };
  const placed = problem.nodesByName.get(name);
  return {
    ...problem,
    nodes: problem.nodes.map((node) => (node.name === name ? edited(node) : node)),
    ...(placed !== undefined && { nodesByName: new Map(problem.nodesByName).set(name, edited(placed)) }),
  };
}

function editMap<T>(objects: ReadonlyMap<string, T>, key: string, edit: Edit): ReadonlyMap<string, T> {
  return new Map(objects).set(key, applyOperation(objects.get(key), edit) as T);
}
