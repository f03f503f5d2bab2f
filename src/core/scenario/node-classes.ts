import type { Conditioned } from "../../api/conditions/condition.ts";
import { nodeClassReadyObservation } from "../../api/conditions/node-pool.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodeClassRef } from "../../api/node-class-ref.ts";
import type { KubeObject } from "../../api/object.ts";
import { nodeClassKinds, scenarioKind } from "./scenario-kind.ts";

/** The node classes among objects. */
export function nodeClassesOf(objects: readonly KubeObject[]): readonly KubeObject[] {
  return objects.filter((object) => {
    const kind = scenarioKind(object);
    return kind !== undefined && nodeClassKinds.has(kind);
  });
}

/** The node classes among objects, by kind and name. */
export function nodeClassesByKey(objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  return new Map(nodeClassesOf(objects).map((object) => [`${object.kind}/${object.metadata.name ?? ""}`, object]));
}

/** The node class a NodePool or a NodeClaim refers to. None where fields of the reference are missing: that is found when objects are validated. */
export function nodeClassRefOf(object: KubeObject): NodeClassRef | undefined {
  const spec = object.spec as (PoolSpec & ClaimSpec) | undefined;
  const ref = object.kind === "NodeClaim" ? spec?.nodeClassRef : spec?.template?.spec?.nodeClassRef;
  return [ref?.group, ref?.kind, ref?.name].every((field) => typeof field === "string") ? ref : undefined;
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
    const ref = nodeClassRefOf(object);
    const nodeClass = (ref && classes.get(nodeClassKey(ref))) as Conditioned | undefined;
    if (nodeClass === undefined || !hasReadiness(nodeClass)) return object;
    const finding = nodeClassReadyObservation(nodeClass);
    const { conditions = [], ...status } = (object.status ?? {}) as NonNullable<Conditioned["status"]>;
    return { ...object, status: { ...status, conditions: [...conditions, { type: conditionType, ...finding }] } };
  });
}

interface PoolSpec {
  readonly template?: { readonly spec?: ClaimSpec };
}

interface ClaimSpec {
  readonly nodeClassRef?: NodeClassRef;
}

const conditionType = "NodeClassReady";

function hasReadiness(nodeClass: Conditioned): boolean {
  return nodeClass.metadata.deletionTimestamp !== undefined || getCondition(nodeClass, "Ready") !== undefined;
}
