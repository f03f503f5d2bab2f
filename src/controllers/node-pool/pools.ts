import type { Conditioned } from "../../api/conditions/condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import { isManagedPool } from "../../api/validation/node-pool.ts";
import type { CloudProvider } from "../../cloud/provider.ts";
import type { ResourceType } from "../../kube/client.ts";
import { type LoopWorld, on, type Trigger } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Change, View } from "../../kube/view.ts";

type Served = Pick<CloudProvider, "nodeClasses">;

export function poolsIn(world: Pick<LoopWorld, "view">): View<NodePool> {
  return world.view<NodePool>(custom.NodePool);
}

/** The pool of this name, if it is there and of a node class we serve: others are somebody else's. (03:P-3) */
export function managedPool(
  name: string,
  world: Pick<LoopWorld, "view">,
  { nodeClasses }: Served,
): NodePool | undefined {
  const pool = poolsIn(world).get(name);
  return pool !== undefined && isManagedPool(pool, nodeClasses) ? pool : undefined;
}

/** Keys of a trigger: the pool itself, while there is one. */
export function itself({ object }: Change<NodePool>): readonly string[] {
  return object === undefined ? [] : [object.metadata.name ?? ""];
}

/** A change of a node class concerns the pools that refer to it. */
export function poolsOfClasses({ nodeClasses }: Served): readonly Trigger[] {
  return nodeClasses.map((type) =>
    on<KubeObject>(type, ({ object, old }, world) => {
      const name = (object ?? old)?.metadata.name;
      return poolsIn(world)
        .all()
        .filter((pool) => isOfType(pool, type) && pool.spec.template.spec.nodeClassRef.name === name)
        .map(({ metadata }) => metadata.name ?? "");
    }),
  );
}

/** The node class a pool refers to, if it exists. */
export function nodeClassOf(
  pool: NodePool,
  world: Pick<LoopWorld, "view">,
  { nodeClasses }: Served,
): (KubeObject & Conditioned) | undefined {
  const type = nodeClasses.find((one) => isOfType(pool, one));
  return type && world.view<KubeObject & Conditioned>(type).get(pool.spec.template.spec.nodeClassRef.name);
}

function isOfType({ spec }: NodePool, { group, kind }: ResourceType): boolean {
  const { nodeClassRef } = spec.template.spec;
  return nodeClassRef.group === group && nodeClassRef.kind === kind;
}
