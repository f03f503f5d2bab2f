import { poolValidation as findingOf } from "../../api/conditions/node-pool.ts";
import { problemsMessage } from "../../api/conditions/validation-finding.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { reviewNodePool } from "../../api/validation/node-pool.ts";
import { type Loop, on, reconcileLoop } from "../../kube/loop.ts";
import { custom } from "../../kube/resources.ts";
import type { Parts } from "../parts.ts";
import { referred } from "../provisioning/words.ts";
import { note } from "./conditions.ts";
import { itself, managedPool } from "./pools.ts";

/** Says of every pool whether its template means something, beyond what the schema can tell. (03:P-4) */
export function poolValidation({ cloud, log }: Parts): Loop {
  return reconcileLoop({
    name: "nodepool.validation",
    concurrency: 10,
    triggers: [on<NodePool>(custom.NodePool, itself)],
    reconcile: async (name, world) => {
      const pool = managedPool(name, world, cloud);
      if (pool === undefined) return undefined;
      const { problems, notices } = reviewNodePool(pool, cloud.labelPolicy);
      const { isChanged, again } = await note(pool, world, {
        type: "ValidationSucceeded",
        finding: findingOf(problems),
      });
      // Once a judgement, not once a look.
      if (isChanged && notices.length > 0) {
        log.error("nodepool has values nobody knows", {
          NodePool: referred(pool.metadata),
          notices: problemsMessage(notices),
        });
      }
      return again;
    },
  });
}
