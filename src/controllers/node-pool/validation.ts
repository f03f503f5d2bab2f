import { poolValidationObservation } from "../../api/conditions/node-pool.ts";
import { problemsMessage } from "../../api/conditions/validation-observation.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { reviewNodePool } from "../../api/validation/node-pool.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { karpenterController } from "../karpenter-context.ts";
import { ownName } from "../node-claim/triggers.ts";
import { logReference } from "../provisioning/log-text.ts";
import { managedPool } from "./managed-pools.ts";
import { setPoolCondition } from "./set-pool-condition.ts";

/** Validates every pool beyond what its schema checks, and sets ValidationSucceeded. (03:P-4) */
export function poolValidationController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodepool.validation",
    concurrency: 10,
    triggers: [triggerOn<NodePool>(karpenterTypes.NodePool, ownName)],
    reconcile: async (name, context) => {
      const pool = managedPool(name, context);
      if (pool === undefined) return undefined;
      const { problems, notices } = reviewNodePool(pool, context.cloud.labelPolicy);
      const update = { type: "ValidationSucceeded", finding: poolValidationObservation(problems) } as const;
      const { isChanged, requeue } = await setPoolCondition(pool, update, context);
      // Logged when the result changes, not at every reconcile.
      if (isChanged && notices.length > 0) {
        context.log.error("nodepool has unknown values", {
          NodePool: logReference(pool.metadata),
          notices: problemsMessage(notices),
        });
      }
      return requeue;
    },
  });
}
