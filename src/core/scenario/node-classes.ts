import type { Conditioned } from "../../api/conditions/condition.ts";
import { nodeClassReadyObservation } from "../../api/conditions/node-pool.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import type { KubeObject } from "../../api/object.ts";
import { nodeClassKinds, scenarioKind } from "./scenario-kind.ts";

/** The node classes among objects, by kind and name. */
export function nodeClassesByKey(objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  const found = objects.filter((object) => {
    const kind = scenarioKind(object);
    return kind !== undefined && nodeClassKinds.has(kind);
  });
  return new Map(found.map((object) => [`${object.kind}/${object.metadata.name ?? ""}`, object]));
}

/** The API group of the node class a NodePool refers to. */
export function nodeClassGroup(pool: KubeObject): string | undefined {
  return (pool.spec as PoolSpec | undefined)?.template?.spec?.nodeClassRef?.group;
}

export function nodeClassKey({ kind, name }: Pick<NodeClassRef, "kind" | "name">): string {
  return `${kind}/${name}`;
}

/** Adds the NodeClassReady condition to pools whose node class is given with a Ready condition; otherwise it counts as ready. */
export function withNodeClassReady(objects: readonly KubeObject[]): readonly KubeObject[] {
  const classes = nodeClassesByKey(objects);
  if (classes.size === 0) return objects;
  return objects.map((object) => {
    if (
      scenarioKind(object) !== "NodePool" ||
      getCondition(object as unknown as Conditioned, conditionType) !== undefined
    ) {
      return object;
    }
    const ref = (object.spec as PoolSpec | undefined)?.template?.spec?.nodeClassRef;
    const nodeClass = (ref && classes.get(nodeClassKey(ref))) as Conditioned | undefined;
    if (nodeClass === undefined || !hasReadiness(nodeClass)) return object;
    const finding = nodeClassReadyObservation(nodeClass);
    const { conditions = [], ...status } = (object.status ?? {}) as NonNullable<Conditioned["status"]>;
    return { ...object, status: { ...status, conditions: [...conditions, { type: conditionType, ...finding }] } };
  });
}

interface PoolSpec {
  readonly template?: { readonly spec?: { readonly nodeClassRef?: NodeClassRef } };
}

const conditionType = "NodeClassReady";

function hasReadiness(nodeClass: Conditioned): boolean {
  return nodeClass.metadata.deletionTimestamp !== undefined || getCondition(nodeClass, "Ready") !== undefined;
}
