import {
  isRegistrationHealthStale,
  unevaluatedHealthObservation,
  windowFromCondition,
} from "../../api/conditions/registration-window.ts";
import { getCondition } from "../../api/conditions/set-condition.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { scaledConcurrency } from "../settings.ts";
import { managedPool, nodeClassOf, nodeClassTriggers } from "./managed-pools.ts";
import { setPoolCondition } from "./set-pool-condition.ts";

/**
 * Resets the registration health of a pool when the pool or its node class changes, and restores it from the condition
 * after a restart. (03:P-23)
 */
export function poolRegistrationHealthController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodepool.registrationhealth",
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    triggers: [
      triggerOn<NodePool>(karpenterTypes.NodePool, ({ object, old }) => [(object ?? old).metadata.name ?? ""]),
      ...nodeClassTriggers(dependencies.cloud),
    ],
    reconcile: async (name, context) => {
      const { registrationHealth } = context;
      const pool = managedPool(name, context);
      if (pool === undefined) registrationHealth.retain(uidsOfPools(context));
      const nodeClass = pool && nodeClassOf(pool, context);
      if (pool === undefined || nodeClass === undefined) return undefined;
      const uid = pool.metadata.uid ?? "";
      if (registrationHealth.health(uid) === "unknown")
        registrationHealth.set(uid, windowFromCondition(getCondition(pool, "NodeRegistrationHealthy")));
      if (!isRegistrationHealthStale(pool, nodeClass)) return undefined;
      registrationHealth.set(uid, []);
      const more = { nodeClassObservedGeneration: nodeClass.metadata.generation ?? 0 };
      const update = { type: "NodeRegistrationHealthy", finding: unevaluatedHealthObservation, more } as const;
      const { requeue } = await setPoolCondition(pool, update, context);
      return requeue;
    },
  });
}

function uidsOfPools({ view }: KarpenterContext): ReadonlySet<string> {
  const pools = view<NodePool>(karpenterTypes.NodePool).all();
  return new Set(pools.map(({ metadata }) => metadata.uid ?? ""));
}
