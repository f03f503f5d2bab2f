import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import { ExpiringMap } from "../../kube/expiring-map.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { perRunState } from "../per-run-state.ts";
import { scaledConcurrency } from "../settings.ts";
import { mergePatchObject, requeueOnConflict } from "../writes.ts";
import {
  claimNamesForNode,
  indexClaimsAndNodes,
  isManagedClaim,
  type NodeKubeObject,
  nodeClaimView,
} from "./claim-lookups.ts";
import { type ClaimReconcileContext, claimReconcileContext } from "./claim-reconcile-context.ts";
import { type ClaimStepResult, runClaimSteps } from "./claim-steps.ts";
import { finalizeClaim } from "./finalize-claim.ts";
import { checkInitialization } from "./initialization.ts";
import { type LaunchedInstances, launchInstance } from "./launch.ts";
import { checkLiveness } from "./liveness.ts";
import { withTerminationFinalizer } from "./node-sync.ts";
import { registerNode } from "./registration.ts";
import { ownNameUnlessMetadataOrStatusChange } from "./triggers.ts";

const controller = "nodeclaim.lifecycle";

/** From a claim to a node pods can use, and back to nothing. (03 §1.1) */
export function lifecycleController(dependencies: ControllerDependencies): Controller {
  const launchesOf = perRunState((context): LaunchedInstances => new ExpiringMap(context.clock));
  return reconcileController({
    name: controller,
    triggers: [
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownNameUnlessMetadataOrStatusChange),
      triggerOn<NodeKubeObject>(builtInTypes.Node, claimNamesForNode),
    ],
    kinds: [karpenterTypes.NodePool],
    prepare: indexClaimsAndNodes,
    concurrency: scaledConcurrency({ min: 1_000, max: 5_000 }, dependencies.settings),
    backOff: { baseMs: 1_000, maxMs: 60_000 },
    reconcile: requeueOnConflict(async (name: string, context: ControllerContext) => {
      const claim = nodeClaimView(context).get(name);
      if (claim === undefined || !isManagedClaim(claim, dependencies.cloud)) return undefined;
      const claimContext = {
        ...claimReconcileContext(claim, { controller, context, dependencies }),
        launches: launchesOf(context),
      };
      return claim.metadata.deletionTimestamp === undefined
        ? runPhases(claim, claimContext)
        : finalizeClaim(claim, claimContext);
    }),
  });
}

const phases: readonly ((claim: NodeClaim, claimContext: LifecycleContext) => Promise<ClaimStepResult>)[] = [
  launchInstance,
  registerNode,
  checkInitialization,
  checkLiveness,
];

type LifecycleContext = ClaimReconcileContext & { readonly launches: LaunchedInstances };

/** No machine is bought before the finalizer that will see to its end is stored. (03:L-2) */
async function runPhases(seen: NodeClaim, claimContext: LifecycleContext): Promise<RequeueAfter | undefined> {
  const { client } = claimContext.context;
  const claim = await withStoredFinalizer(seen, claimContext);
  return runClaimSteps(claim, {
    client,
    steps: phases.map((phase) => (current: NodeClaim) => phase(current, claimContext)),
  });
}

async function withStoredFinalizer(claim: NodeClaim, { context }: ClaimReconcileContext): Promise<NodeClaim> {
  const finalizers = withTerminationFinalizer(claim.metadata.finalizers);
  if (finalizers === claim.metadata.finalizers) return claim;
  const body = { metadata: { finalizers } };
  return mergePatchObject<NodeClaim>(context.client, karpenterTypes.NodeClaim, claim, {
    body,
    hasOptimisticLock: true,
  });
}
