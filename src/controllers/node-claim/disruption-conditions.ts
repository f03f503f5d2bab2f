import { isDeepStrictEqual } from "node:util";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceType } from "../../kube/client.ts";
import { type Controller, type ControllerContext, triggerOn, type WatchTrigger } from "../../kube/controller.ts";
import { karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { contextOfClaim, type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { scaledConcurrency } from "../settings.ts";
import { requeueOnConflict } from "../writes.ts";
import {
  claimNameOf,
  claimsOfPool,
  indexClaimsAndNodes,
  isManagedClaim,
  nodeClaimView,
  poolForClaim,
} from "./claim-lookups.ts";
import { type ClaimStep, runClaimSteps } from "./claim-steps.ts";
import { markConsolidatable } from "./consolidatable-condition.ts";
import { driftRecheckMs, markDrifted } from "./drifted-condition.ts";
import { ownName } from "./triggers.ts";

/**
 * Sets the conditions Drifted and Consolidatable; disrupting the claims is another controller's work. Pods do not wake
 * it: their events arrive as the claim's lastPodEventTime. (03 §1.10)
 */
export function disruptionConditionsController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodeclaim.disruption",
    triggers: [
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownName),
      triggerOn<NodePool>(karpenterTypes.NodePool, claimsOfChangedPool),
      ...dependencies.cloud.nodeClasses.map(claimsOfNodeClassTrigger),
    ],
    reads: [{ of: "cloud", withinMs: driftRecheckMs, because: "no cloud announces that an instance drifted" }],
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    start: (context) => {
      indexClaimsAndNodes(context);
      return new ExpiringMap<true>(context.clock);
    },
    reconcile: requeueOnConflict(
      async (name: string, context: KarpenterContext, recentTypeChecks: ExpiringMap<true>) => {
        const claim = nodeClaimView(context).get(name);
        if (claim === undefined || !isManagedClaim(claim, context.cloud)) return undefined;
        const pool = poolForClaim(claim, context);
        if (pool === undefined || claim.metadata.deletionTimestamp !== undefined) return undefined;
        const claimContext = contextOfClaim(claim, context);
        const steps: readonly ClaimStep[] = [
          (current) => markDrifted(current, { pool, recentTypeChecks }, claimContext),
          async (current) => markConsolidatable(current, pool, claimContext),
        ];
        return runClaimSteps(claim, { client: context.client, steps });
      },
    ),
  });
}

/** A change of the pool's status concerns no claim. */
function claimsOfChangedPool({ object, old }: ObjectChange<NodePool>, context: ControllerContext): readonly string[] {
  if (object === undefined) return [];
  const isSame =
    old !== undefined &&
    old.metadata.generation === object.metadata.generation &&
    isDeepStrictEqual(old.metadata.annotations, object.metadata.annotations);
  return isSame ? [] : claimsOfPool(object.metadata.name ?? "", context).map(claimNameOf);
}

function claimsOfNodeClassTrigger(type: ResourceType): WatchTrigger {
  return triggerOn<KubeObject>(type, ({ object, old }, context) => {
    const name = (object ?? old)?.metadata.name;
    return nodeClaimView(context)
      .all()
      .filter(
        ({ spec: { nodeClassRef: ref } }) => ref.name === name && ref.kind === type.kind && ref.group === type.group,
      )
      .map(claimNameOf);
  });
}
