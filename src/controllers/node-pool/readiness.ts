import { nodeClassReadiness } from "../../api/conditions/node-pool.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type Loop, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { note } from "./conditions.ts";
import { itself, managedPool, nodeClassOf, poolsOfClasses } from "./pools.ts";

/** Says of every pool whether nodes can be made from its node class. (03:P-3) */
export function poolReadiness({ cloud, settings }: Parts): Loop {
  return reconcileLoop({
    name: "nodepool.readiness",
    concurrency: workers({ min: 10, max: 1_000 }, settings),
    triggers: [on<NodePool>(custom.NodePool, itself), ...poolsOfClasses(cloud)],
    reconcile: async (name, world) => {
      const pool = managedPool(name, world, cloud);
      if (pool === undefined) return undefined;
      const finding = nodeClassReadiness(nodeClassOf(pool, world, cloud));
      const { again } = await note(pool, world, { type: "NodeClassReady", finding });
      return again;
    },
  });
}
