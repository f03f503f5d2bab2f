import { nodeClassReadyObservation } from "../../api/conditions/node-pool.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { karpenterController } from "../karpenter-context.ts";
import { ownName } from "../node-claim/triggers.ts";
import { scaledConcurrency } from "../settings.ts";
import { managedPool, nodeClassOf, nodeClassTriggers } from "./managed-pools.ts";
import { setPoolCondition } from "./set-pool-condition.ts";

/** Sets NodeClassReady on every pool. (03:P-3) */
export function poolReadinessController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodepool.readiness",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    triggers: [triggerOn<NodePool>(karpenterTypes.NodePool, ownName), ...nodeClassTriggers(dependencies.cloud)],
    reconcile: async (name, context) => {
      const pool = managedPool(name, context);
      if (pool === undefined) return undefined;
      const finding = nodeClassReadyObservation(nodeClassOf(pool, context));
      const { requeue } = await setPoolCondition(pool, { type: "NodeClassReady", finding }, context);
      return requeue;
    },
  });
}
