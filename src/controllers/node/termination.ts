import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, finalizers, labels } from "../../api/labels.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import { nodeClassLabelKey } from "../../core/scenario/complete-nodes.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { claimForNode, isNodeReady, type NodeKubeObject, nodeView } from "../node-claim/claim-lookups.ts";
import { writeClaim } from "../node-claim/claim-steps.ts";
import { scaledConcurrency } from "../settings.ts";
import { deleteExisting, ignoreKubeErrors, requeueOnConflict } from "../writes.ts";
import { drainNode } from "./drain-node.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import {
  indexPodsByNode,
  type NodeTerminationContext,
  type TerminationStepResult,
} from "./node-termination-context.ts";
import { removeNodeFinalizer } from "./remove-node-finalizer.ts";
import { taintNode } from "./taint-node.ts";
import { terminateInstance } from "./terminate-instance.ts";
import { awaitVolumeDetachment, indexVolumeAttachments } from "./volume-detachment.ts";

const controller = "node.termination";

export interface TerminationDependencies extends ControllerDependencies {
  readonly queue: EvictionQueue;
}

/** Lets a Node that is deleted go in good order: its pods, its volumes, its machine, then itself. (03 §2.1) */
export function nodeTerminationController(dependencies: TerminationDependencies): Controller {
  return reconcileController({
    name: controller,
    triggers: [
      triggerOn<NodeKubeObject>(builtInTypes.Node, ({ object }) =>
        object && needsTermination(object, dependencies) ? [object.metadata.name ?? ""] : [],
      ),
    ],
    kinds: [
      karpenterTypes.NodeClaim,
      builtInTypes.Pod,
      builtInTypes.VolumeAttachment,
      builtInTypes.PersistentVolumeClaim,
    ],
    concurrency: scaledConcurrency({ min: 100, max: 5_000 }, dependencies.settings),
    backOff: { baseMs: 100, maxMs: 10_000 },
    prepare: (context) => {
      indexPodsByNode(context);
      indexVolumeAttachments(context);
    },
    reconcile: requeueOnConflict(async (name: string, context: ControllerContext) => {
      const node = nodeView(context).get(name);
      return node === undefined || !needsTermination(node, dependencies)
        ? undefined
        : terminateNode(node, context, dependencies);
    }),
  });
}

function needsTermination({ metadata }: NodeKubeObject, { cloud }: ControllerDependencies): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).includes(finalizers.termination) &&
    cloud.nodeClasses.some((served) => metadata.labels?.[nodeClassLabelKey(served)] !== undefined)
  );
}

async function terminateNode(
  node: NodeKubeObject,
  context: ControllerContext,
  dependencies: TerminationDependencies,
): Promise<RequeueAfter | undefined> {
  const claim = await deleteClaimOfNode(node, context);
  const names = {
    Node: { name: node.metadata.name ?? "" },
    ...(claim && { NodeClaim: { name: claim.metadata.name } }),
  };
  const log = dependencies.log.with({ controller, ...names });
  const terminationContext: NodeTerminationContext = {
    node,
    claim,
    context,
    dependencies,
    queue: dependencies.queue,
    log,
  };
  if (await isInstanceGone(terminationContext)) return removeNodeFinalizer(terminationContext);
  const deadlineMs = deadlineOf(claim);
  recordDeadlineEvent(terminationContext);
  return runTerminationSteps({ ...terminationContext, deadlineMs, node: await taintNode(terminationContext) });
}

/** Deleting the Node means its claim too. Gives the claim as it is then: our own write is nobody's conflict. (03:T-1) */
async function deleteClaimOfNode(node: NodeKubeObject, context: ControllerContext): Promise<NodeClaim | undefined> {
  const claim = claimForNode(node, context);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return claim;
  await deleteExisting(context.client, karpenterTypes.NodeClaim, claim);
  return claimForNode(node, context);
}

/**
 * A machine that the cloud does not know has no pods to drain; one whose kubelet reports has, and of one without an id
 * nothing can be known. (03:T-5)
 */
async function isInstanceGone({ node, dependencies }: NodeTerminationContext): Promise<boolean> {
  const id = node.spec?.providerID ?? "";
  if (id === "" || isNodeReady(node)) return false;
  try {
    await dependencies.cloud.get(id);
    return false;
  } catch (error) {
    if (isCloudError(error, "not-found")) return true;
    throw error;
  }
}

/** 03:T-6. */
function deadlineOf(claim: NodeClaim | undefined): number | undefined {
  const written = claim?.metadata.annotations?.[annotations.terminationTimestamp];
  if (written === undefined) return undefined;
  const deadlineMs = Date.parse(written);
  if (Number.isNaN(deadlineMs)) {
    throw new Error(
      `parsing ${annotations.terminationTimestamp} of nodeclaim ${claim?.metadata.name}: ${written} is no time`,
    );
  }
  return deadlineMs;
}

function recordDeadlineEvent({ node, context, claim }: NodeTerminationContext): void {
  const written = claim?.metadata.annotations?.[annotations.terminationTimestamp];
  if (written === undefined) return;
  context.recordEvent(node, {
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message: `All pods will be deleted by ${written}`,
    dedupe: { values: [node.metadata.uid ?? ""] },
  });
}

/** In order, until one has to wait; what they found out is written whatever happens. (03:T-8) */
async function runTerminationSteps(terminationContext: NodeTerminationContext): Promise<RequeueAfter | undefined> {
  let { claim } = terminationContext;
  let afterMs: number | undefined;
  try {
    for (const step of [drainNode, awaitVolumeDetachment, terminateInstance]) {
      const result: TerminationStepResult = await step({ ...terminationContext, claim });
      claim = result.claim;
      afterMs = result.afterMs;
      if (afterMs !== undefined) break;
    }
  } finally {
    await writeClaimConditions(terminationContext, claim);
  }
  return afterMs === undefined ? removeNodeFinalizer(terminationContext) : { afterMs };
}

/** Refused where somebody else wrote meanwhile: then all is looked at again. Counted once written. (03:T-8, S-13) */
async function writeClaimConditions(
  { claim: before, node, context, dependencies }: NodeTerminationContext,
  after: NodeClaim | undefined,
) {
  if (before === undefined || after === undefined || after === before) return;
  const written = await ignoreKubeErrors(writeClaim(context.client, { before, after }), "not-found");
  if (written === undefined || !isStatusConditionTrue(after, "Drained") || isStatusConditionTrue(before, "Drained"))
    return;
  dependencies.metrics.count("nodes_drained_total", { nodepool: node.metadata.labels?.[labels.nodePool] ?? "" });
}
