import { get } from "../../api/conditions/engine.ts";
import { isHealthStale, reseeded, unevaluatedHealth } from "../../api/conditions/registration-window.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type Loop, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { note } from "./conditions.ts";
import { itself, managedPool, nodeClassOf, poolsOfClasses } from "./pools.ts";

/** Forgets how nodes of a pool fared once the pool or its node class is another, and remembers it over a restart. (03:P-23) */
export function poolRegistrationHealth({ cloud, health, settings }: Parts): Loop {
  return reconcileLoop({
    name: "nodepool.registrationhealth",
    concurrency: workers({ min: 10, max: 1_000 }, settings),
    triggers: [on<NodePool>(custom.NodePool, itself), ...poolsOfClasses(cloud)],
    reconcile: async (name, world) => {
      const pool = managedPool(name, world, cloud);
      const nodeClass = pool && nodeClassOf(pool, world, cloud);
      if (pool === undefined || nodeClass === undefined) return undefined;
      const uid = pool.metadata.uid ?? "";
      if (health.health(uid) === "unknown") health.set(uid, reseeded(get(pool, "NodeRegistrationHealthy")));
      if (!isHealthStale(pool, nodeClass)) return undefined;
      health.set(uid, []);
      const { again } = await note(pool, world, {
        type: "NodeRegistrationHealthy",
        finding: unevaluatedHealth,
        more: { nodeClassObservedGeneration: nodeClass.metadata.generation ?? 0 },
      });
      return again;
    },
  });
}
