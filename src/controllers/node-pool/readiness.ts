import { nodeClassReadyObservation } from "../../api/conditions/node-pool.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type Controller, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { scaledConcurrency } from "../settings.ts";
import { changedPoolName, managedPool, nodeClassOf, nodeClassTriggers } from "./managed-pools.ts";
import { setPoolCondition } from "./set-pool-condition.ts";

/** Says of every pool whether nodes can be made from its node class. (03:P-3) */
export function poolReadinessController({ cloud, settings }: ControllerDependencies): Controller {
  return reconcileController({
    name: "nodepool.readiness",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, settings),
    triggers: [triggerOn<NodePool>(karpenterTypes.NodePool, changedPoolName), ...nodeClassTriggers(cloud)],
    reconcile: async (name, context) => {
      const pool = managedPool(name, context, cloud);
      if (pool === undefined) return undefined;
      const finding = nodeClassReadyObservation(nodeClassOf(pool, context, cloud));
      const { requeue } = await setPoolCondition(pool, context, { type: "NodeClassReady", finding });
      return requeue;
    },
  });
}
