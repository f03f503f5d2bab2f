import { isConditionSettled, nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labels, taints } from "../../api/labels.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { mergePatchObject } from "../writes.ts";
import { withClaimCondition, withClaimConditionRefreshed, withClaimConditionTrue } from "./claim-conditions.ts";
import { allNodesForClaim, type NodeKubeObject } from "./claim-lookups.ts";
import type { ClaimReconcileContext } from "./claim-reconcile-context.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import { isSameTaint, nodeMarkedRegistered, nodePatch, syncedNode } from "./node-sync.ts";
import { type HookResults, runRegistrationHooks } from "./registration-hooks.ts";
import { recordRegistrationOutcome } from "./registration-outcome.ts";

/** Makes the Node that joined the claim's own, and opens it to pods. (03 §1.3) */
export async function registerNode(claim: NodeClaim, claimContext: ClaimReconcileContext): Promise<ClaimStepResult> {
  const { context } = claimContext;
  if (isConditionSettled(claim, "Registered"))
    return { claim: withClaimConditionRefreshed(claim, "Registered", context.clock.now()) };
  const [node, ...others] = allNodesForClaim(claim, context);
  if (node === undefined) return withNodeNotFound(claim, claimContext);
  if (others.length > 0) return withMultipleNodes(claim, claimContext);
  warnOfMissingTaint(claim, node, claimContext);
  return syncNode(claim, node, claimContext);
}

/** The taint that kept pods away until now goes last, with everything else on the node. (03:L-11 to L-13) */
async function syncNode(
  claim: NodeClaim,
  node: NodeKubeObject,
  claimContext: ClaimReconcileContext,
): Promise<ClaimStepResult> {
  const { context, dependencies } = claimContext;
  const hookResults = await runRegistrationHooks(claim, dependencies.cloud.registrationHooks ?? []);
  const labelled = withExtraLabels(claim, hookResults.labels);
  const updated = syncedNode(node, labelled);
  const isPassed = hookResults.pending.length === 0;
  const body = nodePatch(node, isPassed ? nodeMarkedRegistered(updated) : updated);
  if (body !== undefined)
    await mergePatchObject(context.client, builtInTypes.Node, node, { body, hasOptimisticLock: true });
  return isPassed
    ? withRegistered(labelled, node, claimContext)
    : withHooksPending(labelled, hookResults, claimContext);
}

function withRegistered(
  claim: NodeClaim,
  { metadata }: NodeKubeObject,
  claimContext: ClaimReconcileContext,
): ClaimStepResult {
  const { name = "" } = metadata;
  const done = withClaimConditionTrue(claim, "Registered", claimContext.context.clock.now());
  return {
    claim: { ...done, status: { ...done.status, nodeName: name } },
    afterWrite: async () => {
      claimContext.log.info("registered nodeclaim", { Node: { name } });
      const { [labels.nodePool]: nodepool = "", [labels.zone]: zone = "" } = claim.metadata.labels ?? {};
      claimContext.dependencies.metrics.count("nodes_created_total", { nodepool, zone });
      await recordRegistrationOutcome(claim, { ...claimContext, isRegistered: true });
    },
  };
}

function withHooksPending(
  claim: NodeClaim,
  { pending, afterMs, error }: HookResults,
  { context, log }: ClaimReconcileContext,
): ClaimStepResult {
  log.debug("awaiting registration hooks", { hooks: pending });
  const finding = { reason: nodeClaimReasons.registrationHookPending, message: pending.join(", ") };
  const pendingClaim = withClaimCondition(claim, "Registered", {
    status: "Unknown",
    ...finding,
    nowMs: context.clock.now(),
  });
  return { claim: pendingClaim, afterMs, error };
}

function withNodeNotFound(claim: NodeClaim, { context }: ClaimReconcileContext): ClaimStepResult {
  const finding = { reason: nodeClaimReasons.nodeNotFound, message: "the node has not joined the cluster" };
  return {
    claim: withClaimCondition(claim, "Registered", { status: "Unknown", ...finding, nowMs: context.clock.now() }),
  };
}

function withMultipleNodes(claim: NodeClaim, { context }: ClaimReconcileContext): ClaimStepResult {
  const finding = { reason: nodeClaimReasons.multipleNodesFound, message: "several nodes say they are this machine" };
  return {
    claim: withClaimCondition(claim, "Registered", { status: "False", ...finding, nowMs: context.clock.now() }),
  };
}

function withExtraLabels(claim: NodeClaim, added: Readonly<Record<string, string>>): NodeClaim {
  if (Object.keys(added).length === 0) return claim;
  return { ...claim, metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, ...added } } };
}

/** Pods may have come to it before its labels and taints did. (03:L-10) */
function warnOfMissingTaint(
  claim: NodeClaim,
  { metadata, spec }: NodeKubeObject,
  { context, log }: ClaimReconcileContext,
): void {
  const isProtected = (spec?.taints ?? []).some((taint) => isSameTaint(taint, taints.unregistered));
  if (isProtected || metadata.labels?.[labels.registered] !== undefined) return;
  const { key } = taints.unregistered;
  log.error("node claim registration error", {
    taint: key,
    error: new Error(
      `node ${metadata.name ?? ""} joined without the taint that keeps pods away until it is registered`,
    ),
  });
  context.recordEvent(claim, {
    type: "Warning",
    reason: "UnregisteredTaintMissing",
    message: `Node joined without taint ${key}: pods may have been placed on it before it was registered`,
    dedupe: { values: [claim.metadata.uid ?? ""] },
  });
}
