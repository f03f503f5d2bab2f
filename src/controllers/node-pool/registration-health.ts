import {
  isRegistrationHealthStale,
  unevaluatedHealthObservation,
  windowFromCondition,
} from "../../api/conditions/registration-window.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type Controller, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { scaledConcurrency } from "../settings.ts";
import { changedPoolName, managedPool, nodeClassOf, nodeClassTriggers } from "./managed-pools.ts";
import { setPoolCondition } from "./set-pool-condition.ts";

/** Forgets how nodes of a pool fared once the pool or its node class is another, and remembers it over a restart. (03:P-23) */
export function poolRegistrationHealthController({
  cloud,
  registrationHealth,
  settings,
}: ControllerDependencies): Controller {
  return reconcileController({
    name: "nodepool.registrationhealth",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, settings),
    triggers: [triggerOn<NodePool>(karpenterTypes.NodePool, changedPoolName), ...nodeClassTriggers(cloud)],
    reconcile: async (name, context) => {
      const pool = managedPool(name, context, cloud);
      const nodeClass = pool && nodeClassOf(pool, context, cloud);
      if (pool === undefined || nodeClass === undefined) return undefined;
      const uid = pool.metadata.uid ?? "";
      if (registrationHealth.health(uid) === "unknown")
        registrationHealth.set(uid, windowFromCondition(getCondition(pool, "NodeRegistrationHealthy")));
      if (!isRegistrationHealthStale(pool, nodeClass)) return undefined;
      registrationHealth.set(uid, []);
      const { requeue } = await setPoolCondition(pool, context, {
        type: "NodeRegistrationHealthy",
        finding: unevaluatedHealthObservation,
        more: { nodeClassObservedGeneration: nodeClass.metadata.generation ?? 0 },
      });
      return requeue;
    },
  });
}
