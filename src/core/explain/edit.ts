import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../api/kubernetes/cluster.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { Taint } from "../../api/labels.ts";
import { namespacedName } from "../../api/object.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { patched } from "./patch.ts";

/** A change of one field of one object, as a JSON patch would say it. */
export interface Edit {
  readonly object: EditedObject;
  readonly op: "add" | "replace" | "remove";
  /** A JSON pointer; empty: the object as a whole. */
  readonly path: string;
  readonly value?: unknown;
}

export interface EditedObject {
  readonly kind: EditedKind;
  readonly namespace?: string;
  readonly name: string;
  /** Whose template makes the pod: its other pods change with it. */
  readonly workload?: { readonly kind: string; readonly name: string };
}

export type EditedKind = "Pod" | "NodePool" | "Node" | "PersistentVolumeClaim" | "PersistentVolume" | "StorageClass";

/** The problem as it would be with the edits made, one after the other. */
export function applyEdits(problem: SchedulingProblem, edits: readonly Edit[]): SchedulingProblem {
  return edits.reduce(applyEdit, problem);
}

function applyEdit(problem: SchedulingProblem, edit: Edit): SchedulingProblem {
  const { kind, name, namespace } = edit.object;
  const key = namespacedName({ namespace, name });
  const { volumes } = problem;
  switch (kind) {
    case "Pod":
      return withPods(problem, edit);
    case "NodePool": {
      const change = (nodePool: NodePool): NodePool =>
        nodePool.metadata.name === name ? patched(nodePool, edit) : nodePool;
      return { ...problem, pools: problem.pools.map((pool) => ({ ...pool, nodePool: change(pool.nodePool) })) };
    }
    case "Node":
      return withNode(problem, edit);
    case "PersistentVolumeClaim":
      return {
        ...problem,
        volumes: { ...volumes, claims: changed<PersistentVolumeClaim>(volumes.claims, key, edit) },
      };
    case "PersistentVolume":
      return { ...problem, volumes: { ...volumes, volumes: changed<PersistentVolume>(volumes.volumes, name, edit) } };
    case "StorageClass":
      return { ...problem, volumes: { ...volumes, classes: changed<StorageClass>(volumes.classes, name, edit) } };
  }
}

/** A pod that waits, with those of the same template, or one that runs. */
function withPods(problem: SchedulingProblem, edit: Edit): SchedulingProblem {
  const key = namespacedName(edit.object);
  const isMeant = (pod: Pod): boolean => namespacedName(pod.metadata) === key;
  const template = problem.pods.find(isMeant);
  const isSibling = (pod: Pod): boolean => template !== undefined && areOfOneTemplate(pod, template);
  const change = (pod: Pod): Pod => (isMeant(pod) || isSibling(pod) ? patched(pod, edit) : pod);
  return {
    ...problem,
    pods: problem.pods.map(change),
    ...(template === undefined && {
      boundPods: problem.boundPods.map((pod) => (isMeant(pod) ? patched(pod, edit) : pod)),
    }),
  };
}

/** Pods a workload made, not yet told apart by hand: a change of its template reaches them all. */
export function areOfOneTemplate(a: Pod, b: Pod): boolean {
  if (a === b) return true;
  const [one, other] = [controllerOf(a), controllerOf(b)];
  if (one === undefined || other === undefined || a.metadata.namespace !== b.metadata.namespace) return false;
  return one.kind === other.kind && one.name === other.name && one.uid === other.uid && haveEqualSpecs(a, b);
}

function haveEqualSpecs(a: Pod, b: Pod): boolean {
  return a.spec === b.spec || JSON.stringify(a.spec) === JSON.stringify(b.spec);
}

export function controllerOf({ metadata }: Pod) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Only labels and taints of a Node are read. */
function withNode(problem: SchedulingProblem, edit: Edit): SchedulingProblem {
  const { name } = edit.object;
  const change = <T extends { labels: Readonly<Record<string, string>>; taints: readonly Taint[] }>(node: T): T => {
    const { labels, taints } = node;
    const { metadata, spec } = patched({ metadata: { labels }, spec: { taints } }, edit);
    return { ...node, labels: metadata.labels ?? {}, taints: spec.taints ?? [] };
  };
  const placed = problem.nodesByName.get(name);
  return {
    ...problem,
    nodes: problem.nodes.map((node) => (node.name === name ? change(node) : node)),
    ...(placed !== undefined && { nodesByName: new Map(problem.nodesByName).set(name, change(placed)) }),
  };
}

function changed<T>(objects: ReadonlyMap<string, T>, key: string, edit: Edit): ReadonlyMap<string, T> {
  return new Map(objects).set(key, patched(objects.get(key), edit) as T);
}
