import { isDeepStrictEqual } from "node:util";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import {
  type Controller,
  type ControllerContext,
  reconcileController,
  triggerOn,
  type WatchTrigger,
} from "../../kube/controller.ts";
import { ExpiringMap } from "../../kube/expiring-map.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { perRunState } from "../per-run-state.ts";
import { scaledConcurrency } from "../settings.ts";
import { requeueOnConflict } from "../writes.ts";
import { claimsOfPool, indexClaimsAndNodes, isManagedClaim, nodeClaimView, poolForClaim } from "./claim-lookups.ts";
import { claimReconcileContext } from "./claim-reconcile-context.ts";
import { runClaimSteps } from "./claim-steps.ts";
import { markConsolidatable } from "./consolidatable-condition.ts";
import { markDrifted } from "./drifted-condition.ts";
import { ownName } from "./triggers.ts";

const controller = "nodeclaim.disruption";

/**
 * Marks claims that may be disrupted; disrupting them is others' work. (03 §1.10) No pod wakes it: what pods do reaches
 * it through the claim's `lastPodEventTime`.
 */
export function disruptionConditionsController(dependencies: ControllerDependencies): Controller {
  const foundIn = perRunState((context) => new ExpiringMap<true>(context.clock));
  return reconcileController({
    name: controller,
    triggers: [
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownName),
      triggerOn<NodePool>(karpenterTypes.NodePool, claimsOfChangedPool),
      ...dependencies.cloud.nodeClasses.map(claimsOfNodeClassTrigger),
    ],
    prepare: indexClaimsAndNodes,
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    reconcile: requeueOnConflict(async (name: string, context: ControllerContext) => {
      const claim = nodeClaimView(context).get(name);
      if (claim === undefined || !isManagedClaim(claim, dependencies.cloud)) return undefined;
      const pool = poolForClaim(claim, context);
      if (pool === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
      const claimContext = {
        ...claimReconcileContext(claim, { controller, context, dependencies }),
        pool,
        found: foundIn(context),
      };
      const drifted = (current: NodeClaim) => markDrifted(current, claimContext);
      const consolidatable = async (current: NodeClaim) => markConsolidatable(current, pool, claimContext);
      return runClaimSteps(claim, { client: context.client, steps: [drifted, consolidatable] });
    }),
  });
}

/** What a pool counts in its status concerns no claim. */
function claimsOfChangedPool({ object, old }: ObjectChange<NodePool>, context: ControllerContext): readonly string[] {
  if (object === undefined) return [];
  const isSame =
    old !== undefined &&
    old.metadata.generation === object.metadata.generation &&
    isDeepStrictEqual(old.metadata.annotations, object.metadata.annotations);
  return isSame ? [] : claimsOfPool(object.metadata.name ?? "", context).map(nameOf);
}

function claimsOfNodeClassTrigger(type: ResourceType): WatchTrigger {
  return triggerOn<KubeObject>(type, ({ object, old }, context) => {
    const name = (object ?? old)?.metadata.name;
    return nodeClaimView(context)
      .all()
      .filter(
        ({ spec: { nodeClassRef: ref } }) => ref.name === name && ref.kind === type.kind && ref.group === type.group,
      )
      .map(nameOf);
  });
}

function nameOf({ metadata }: NodeClaim): string {
  return metadata.name ?? "";
}
