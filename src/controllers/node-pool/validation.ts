import { poolValidationObservation as findingOf } from "../../api/conditions/node-pool.ts";
import { problemsMessage } from "../../api/conditions/validation-observation.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { reviewNodePool } from "../../api/validation/node-pool.ts";
import { type Controller, reconcileController, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { logReference } from "../provisioning/log-text.ts";
import { changedPoolName, managedPool } from "./managed-pools.ts";
import { setPoolCondition } from "./set-pool-condition.ts";

/** Says of every pool whether its template means something, beyond what the schema can tell. (03:P-4) */
export function poolValidationController({ cloud, log }: ControllerDependencies): Controller {
  return reconcileController({
    name: "nodepool.validation",
    concurrency: 10,
    triggers: [triggerOn<NodePool>(karpenterTypes.NodePool, changedPoolName)],
    reconcile: async (name, context) => {
      const pool = managedPool(name, context, cloud);
      if (pool === undefined) return undefined;
      const { problems, notices } = reviewNodePool(pool, cloud.labelPolicy);
      const { isChanged, requeue } = await setPoolCondition(pool, context, {
        type: "ValidationSucceeded",
        finding: findingOf(problems),
      });
      // Once a judgement, not once a look.
      if (isChanged && notices.length > 0) {
        log.error("nodepool has values nobody knows", {
          NodePool: logReference(pool.metadata),
          notices: problemsMessage(notices),
        });
      }
      return requeue;
    },
  });
}
