import type { Conditioned } from "../../api/conditions/condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import { isManagedPool } from "../../api/validation/node-pool.ts";
import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import type { ResourceType } from "../../kube/client.ts";
import { type ControllerContext, triggerOn, type WatchTrigger } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { KarpenterContext } from "../karpenter-context.ts";

type ServedNodeClasses = Pick<CloudProvider, "nodeClasses">;
type PoolLookupContext = Pick<KarpenterContext, "view" | "cloud">;

export function nodePoolView(context: Pick<ControllerContext, "view">): View<NodePool> {
  return context.view<NodePool>(karpenterTypes.NodePool);
}

/** The pool of this name, if it exists and its node class is one this provider serves. (03:P-3) */
export function managedPool(name: string, context: PoolLookupContext): NodePool | undefined {
  const pool = nodePoolView(context).get(name);
  return pool !== undefined && isManagedPool(pool, context.cloud.nodeClasses) ? pool : undefined;
}

/** A change of a node class concerns the pools that refer to it. */
export function nodeClassTriggers({ nodeClasses }: ServedNodeClasses): readonly WatchTrigger[] {
  return nodeClasses.map((type) =>
    triggerOn<KubeObject>(type, ({ object, old }, context) => {
      const name = (object ?? old)?.metadata.name;
      return nodePoolView(context)
        .all()
        .filter((pool) => refersToKind(pool, type) && pool.spec.template.spec.nodeClassRef.name === name)
        .map(({ metadata }) => metadata.name ?? "");
    }),
  );
}

/** The node class a pool refers to, if it exists. */
export function nodeClassOf(
  pool: NodePool,
  { view, cloud }: PoolLookupContext,
): (KubeObject & Conditioned) | undefined {
  const type = cloud.nodeClasses.find((one) => refersToKind(pool, one));
  return type && view<KubeObject & Conditioned>(type).get(pool.spec.template.spec.nodeClassRef.name);
}

function refersToKind({ spec }: NodePool, { group, kind }: ResourceType): boolean {
  const { nodeClassRef } = spec.template.spec;
  return nodeClassRef.group === group && nodeClassRef.kind === kind;
}
