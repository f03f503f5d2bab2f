import type { ResourceSlice } from "../../api/devices/device-objects.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { resourceSlices } from "../device-views.ts";
import { contextOfClaim, type KarpenterContext, karpenterController } from "../karpenter-context.ts";
import { scaledConcurrency } from "../settings.ts";
import { mergePatchObject, requeueOnConflict } from "../writes.ts";
import {
  claimNamesForNode,
  indexClaimsAndNodes,
  isManagedClaim,
  type NodeKubeObject,
  nodeClaimView,
} from "./claim-lookups.ts";
import { type ClaimStep, runClaimSteps } from "./claim-steps.ts";
import { claimNamesForSlice } from "./dra-drivers.ts";
import { finalizeClaim, instancePollMs } from "./finalize-claim.ts";
import { checkInitialization, slicesPollMs } from "./initialization.ts";
import { type LaunchedInstances, launchInstance } from "./launch.ts";
import { checkLiveness } from "./liveness.ts";
import { NodeOpenings } from "./node-openings.ts";
import { withTerminationFinalizer } from "./node-sync.ts";
import { type JoiningNodes, registerNode } from "./registration.ts";
import { ownNameOnLifecycleChange } from "./triggers.ts";

/** What is known of claims beside the API server, as long as it may be needed. */
interface ClaimMemory {
  readonly launches: LaunchedInstances;
  readonly joining: JoiningNodes;
}

/** Takes a claim from creation to an initialized node, and finalizes it when it is deleted. (03 §1.1) */
export function lifecycleController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "nodeclaim.lifecycle",
    triggers: [
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, ownNameOnLifecycleChange),
      triggerOn<NodeKubeObject>(builtInTypes.Node, claimNamesForNode),
      ...(dependencies.settings.ignoreDraRequests
        ? []
        : [triggerOn<ResourceSlice>(resourceSlices, claimNamesForSlice)]),
    ],
    kinds: [karpenterTypes.NodePool],
    reads: [
      {
        of: karpenterTypes.NodePool,
        because: "its registration health is written when a claim registers or times out",
      },
      { of: builtInTypes.Pod, because: "pods are nominated once, with the registration; pod.nomination keeps it true" },
      { of: "cluster state", because: "as for pods: it has where they are planned" },
      { of: resourceSlices, withinMs: slicesPollMs, because: "not every cluster serves them" },
      { of: "cloud", withinMs: instancePollMs, because: "terminations are polled; failed launches are retried" },
    ],
    concurrency: scaledConcurrency({ min: 1_000, max: 5_000 }, dependencies.settings),
    backOff: { baseMs: 1_000, maxMs: 60_000 },
    start: (context): ClaimMemory => {
      indexClaimsAndNodes(context);
      const { clock } = context;
      const joining = { times: new ExpiringMap<number>(clock), openings: new NodeOpenings(clock) };
      return { launches: new ExpiringMap(clock), joining };
    },
    reconcile: requeueOnConflict(async (name: string, context: KarpenterContext, memory: ClaimMemory) => {
      const claim = nodeClaimView(context).get(name);
      if (claim === undefined || !isManagedClaim(claim, context.cloud)) return undefined;
      const claimContext = contextOfClaim(claim, context);
      return claim.metadata.deletionTimestamp === undefined
        ? runPhases(claim, memory, claimContext)
        : finalizeClaim(claim, memory.launches, claimContext);
    }),
  });
}

/** The finalizer is stored before an instance is created, so that none can leak. (03:L-2) */
async function runPhases(
  seen: NodeClaim,
  { launches, joining }: ClaimMemory,
  context: KarpenterContext,
): Promise<ReconcileResult> {
  const claim = await withStoredFinalizer(seen, context);
  const phases: readonly ClaimStep[] = [
    (current) => launchInstance(current, launches, context),
    (current) => registerNode(current, joining, context),
    (current) => checkInitialization(current, context),
    (current) => checkLiveness(current, context),
  ];
  return runClaimSteps(claim, { client: context.client, steps: phases });
}

async function withStoredFinalizer(claim: NodeClaim, { client }: KarpenterContext): Promise<NodeClaim> {
  const finalizers = withTerminationFinalizer(claim.metadata.finalizers);
  if (finalizers === claim.metadata.finalizers) return claim;
  const body = { metadata: { finalizers } };
  return mergePatchObject<NodeClaim>(client, karpenterTypes.NodeClaim, claim, { body, hasOptimisticLock: true });
}
