import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, finalizers, labels } from "../../api/labels.ts";
import { nodeClassLabelKey } from "../../api/node-class-ref.ts";
import { isCloudError } from "../../cloud/cloud-error.ts";
import type { CloudProvider } from "../../cloud/cloud-provider.ts";
import { type Controller, triggerOn } from "../../kube/controller.ts";
import { ignoreKubeErrors } from "../../kube/kube-error.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController, withLogValues } from "../karpenter-context.ts";
import {
  claimForNode,
  claimNamesForNode,
  indexClaimsAndNodes,
  isNodeReady,
  type NodeKubeObject,
  nodeView,
} from "../node-claim/claim-lookups.ts";
import { writeClaim } from "../node-claim/claim-steps.ts";
import { recordTerminationTimestamp, terminationTimestampOf } from "../node-claim/termination-timestamp.ts";
import { scaledConcurrency } from "../settings.ts";
import { deleteExisting, requeueOnConflict } from "../writes.ts";
import { drainNode, drainPollMs } from "./drain-node.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import { terminateInstance, terminationPollMs } from "./instance-termination.ts";
import { indexPodsByNode } from "./pods-of-node.ts";
import { removeNodeFinalizer } from "./remove-node-finalizer.ts";
import { taintNode } from "./taint-node.ts";
import type { TerminatingNode } from "./termination-step.ts";
import { awaitVolumeDetachment, detachmentPollMs, indexVolumeAttachments } from "./volume-detachment.ts";

/** Terminates a deleted Node gracefully: its pods, its volumes, its instance, then its finalizer. (03 §2.1) */
export function nodeTerminationController(dependencies: ControllerDependencies, queue: EvictionQueue): Controller {
  return karpenterController(dependencies, {
    name: "node.termination",
    triggers: [
      triggerOn<NodeKubeObject>(builtInTypes.Node, ({ object }) =>
        object && needsTermination(object, dependencies.cloud) ? [object.metadata.name ?? ""] : [],
      ),
    ],
    kinds: [
      karpenterTypes.NodeClaim,
      builtInTypes.Pod,
      builtInTypes.VolumeAttachment,
      builtInTypes.PersistentVolumeClaim,
    ],
    reads: [
      { of: karpenterTypes.NodeClaim, withinMs: drainPollMs, because: "a drain looks at its claim each time" },
      { of: builtInTypes.Pod, withinMs: drainPollMs, because: "a drain counts the pods that are left" },
      {
        of: builtInTypes.VolumeAttachment,
        withinMs: detachmentPollMs,
        because: "a drained node waits for its volumes",
      },
      { of: builtInTypes.PersistentVolumeClaim, withinMs: detachmentPollMs, because: "as its VolumeAttachments" },
      { of: "cloud", withinMs: terminationPollMs, because: "terminations are polled" },
    ],
    concurrency: scaledConcurrency({ min: 100, max: 5_000 }, dependencies.settings),
    backOff: { baseMs: 100, maxMs: 10_000 },
    start: (context) => {
      indexClaimsAndNodes(context);
      indexPodsByNode(context);
      indexVolumeAttachments(context);
    },
    reconcile: requeueOnConflict(async (name: string, context: KarpenterContext) => {
      const node = nodeView(context).get(name);
      return node === undefined || !needsTermination(node, context.cloud)
        ? undefined
        : terminateNode(node, queue, context);
    }),
  });
}

function needsTermination({ metadata }: NodeKubeObject, { nodeClasses }: CloudProvider): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).includes(finalizers.termination) &&
    nodeClasses.some((served) => metadata.labels?.[nodeClassLabelKey(served)] !== undefined)
  );
}

async function terminateNode(
  seen: NodeKubeObject,
  queue: EvictionQueue,
  controllerContext: KarpenterContext,
): Promise<ReconcileResult> {
  const claim = await deleteClaimOfNode(seen, controllerContext);
  if (claim === undefined && (await isClaimLate(seen, controllerContext))) return { afterMs: drainPollMs };
  const context = withLogValues(controllerContext, {
    Node: { name: seen.metadata.name ?? "" },
    ...(claim && { NodeClaim: { name: claim.metadata.name } }),
  });
  if (await isInstanceGone(seen, context)) return removeNodeFinalizer(seen, context);
  const deadlineMs = deadlineOf(claim);
  const timestamp = claim && terminationTimestampOf(claim);
  if (timestamp !== undefined) recordTerminationTimestamp(seen, timestamp, context);
  const node = await taintNode(seen, context);
  return runTerminationSteps({ node, claim, deadlineMs }, queue, context);
}

/** Deleting the Node means its claim too. Returns the claim after the deletion, so that our own write is no conflict. (03:T-1) */
async function deleteClaimOfNode(node: NodeKubeObject, context: KarpenterContext): Promise<NodeClaim | undefined> {
  const claim = claimForNode(node, context);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return claim;
  await deleteExisting(context.client, karpenterTypes.NodeClaim, claim);
  return claimForNode(node, context);
}

/**
 * The Node's claim exists, but our view does not have its provider id yet. Without the claim nothing would be
 * terminated, and the instance would be left behind.
 */
async function isClaimLate(node: NodeKubeObject, context: KarpenterContext): Promise<boolean> {
  const { metadata, spec } = node;
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === karpenterTypes.NodeClaim.kind);
  if (owner === undefined || claimNamesForNode({ object: node, old: undefined }, context).length > 0) return false;
  const reading = context.client.get<NodeClaim>(karpenterTypes.NodeClaim, { name: owner.name });
  const claim = await ignoreKubeErrors(reading, "not-found");
  return claim?.metadata.uid === owner.uid && claim.status?.providerID === spec?.providerID;
}

/**
 * A Node whose instance the cloud does not know has no pods to drain. A ready kubelet proves that the instance exists,
 * and without a provider id nothing can be known. (03:T-5)
 */
async function isInstanceGone(node: NodeKubeObject, { cloud }: KarpenterContext): Promise<boolean> {
  const id = node.spec?.providerID ?? "";
  if (id === "" || isNodeReady(node)) return false;
  try {
    await cloud.get(id);
    return false;
  } catch (error) {
    if (isCloudError(error, "not-found")) return true;
    throw error;
  }
}

/** The termination timestamp of the claim in milliseconds; a value that is not a time is an error. (03:T-6) */
function deadlineOf(claim: NodeClaim | undefined): number | undefined {
  const timestamp = claim && terminationTimestampOf(claim);
  if (timestamp === undefined) return undefined;
  const deadlineMs = Date.parse(timestamp);
  if (Number.isNaN(deadlineMs)) {
    const where = `${annotations.terminationTimestamp} of nodeclaim ${claim?.metadata.name}`;
    throw new Error(`parsing ${where}: ${timestamp} is not a timestamp`);
  }
  return deadlineMs;
}

/** Runs the steps in order until one has to wait; the claim's conditions are written whatever happens. (03:T-8) */
async function runTerminationSteps(
  terminating: TerminatingNode,
  queue: EvictionQueue,
  context: KarpenterContext,
): Promise<ReconcileResult> {
  const steps = [
    (current: TerminatingNode) => drainNode(current, queue, context),
    (current: TerminatingNode) => awaitVolumeDetachment(current, context),
    (current: TerminatingNode) => terminateInstance(current, context),
  ];
  let { claim } = terminating;
  let afterMs: number | undefined;
  try {
    for (const step of steps) {
      ({ claim, afterMs } = await step({ ...terminating, claim }));
      if (afterMs !== undefined) break;
    }
  } finally {
    await writeClaimConditions(terminating, claim, context);
  }
  return afterMs === undefined ? removeNodeFinalizer(terminating.node, context) : { afterMs };
}

/** A conflict if somebody else wrote meanwhile: then the reconcile is repeated. Counted once written. (03:T-8, S-13) */
async function writeClaimConditions(
  { claim: before, node }: TerminatingNode,
  after: NodeClaim | undefined,
  { client, metrics }: KarpenterContext,
): Promise<void> {
  if (before === undefined || after === undefined || after === before) return;
  const written = await ignoreKubeErrors(writeClaim(client, { before, after }), "not-found");
  if (written === undefined || !isStatusConditionTrue(after, "Drained") || isStatusConditionTrue(before, "Drained"))
    return;
  metrics.count("nodes_drained_total", { nodepool: node.metadata.labels?.[labels.nodePool] ?? "" });
}
