import { isConditionSettled, nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { isEphemeralTaint, isSameTaint, labels, type Taint, taints } from "../../api/labels.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { ExpiringMap } from "../../util/expiring-map.ts";
import { jsonPatchObject } from "../json-patch.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { nominatePlannedPods } from "../provisioning/nominate-pods.ts";
import { withClaimCondition, withClaimConditionRefreshed, withClaimConditionTrue } from "./claim-conditions.ts";
import { allNodesForClaim, isNodeReady, type NodeKubeObject } from "./claim-lookups.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import type { NodeOpenings } from "./node-openings.ts";
import { hasUnregisteredTaint, nodeMarkedRegistered, nodePatch, syncedNode } from "./node-sync.ts";
import { type HookResults, runRegistrationHooks } from "./registration-hooks.ts";
import { recordRegistrationOutcome } from "./registration-outcome.ts";

/** What is known of Nodes that join, beside what the API server has. */
export interface JoiningNodes {
  /** When the Node of a claim was first found joined, and when ready, by the claim's uid. */
  readonly times: ExpiringMap<number>;
  readonly openings: NodeOpenings;
}

/**
 * How long a Node that joins ready keeps its taint, if pods are planned on it. A new Node makes the scheduler try all pods that
 * wait, and clear the nominations of those the taint keeps away: they are nominated after that. DaemonSets use the time
 * too: pods of theirs that tolerate the taint get their room before pods that wait for any. (02:L-46)
 */
const settleMs = 100;
/**
 * How long a Node that is not ready keeps its taint, if pods are planned on it. Whoever opens it when it becomes ready does not
 * wait for their nominations. Not for ever: a DaemonSet that makes it ready may not tolerate the taint. (02:L-47)
 */
const maxNotReadyMs = 30_000;
const rememberedMs = 60_000;

/** Syncs the claim to the Node that joined, and removes the unregistered taint. (03 §1.3) */
export async function registerNode(
  claim: NodeClaim,
  joining: JoiningNodes,
  context: KarpenterContext,
): Promise<ClaimStepResult> {
  if (isConditionSettled(claim, "Registered"))
    return { claim: withClaimConditionRefreshed(claim, "Registered", context.clock.now()) };
  const [node, ...others] = allNodesForClaim(claim, context);
  if (node === undefined) return withNodeNotFound(claim, context);
  if (others.length > 0) return withMultipleNodes(claim, context);
  warnOfMissingTaint(claim, node, context);
  return syncNode(claim, { node, joining }, context);
}

interface JoinedNode {
  readonly node: NodeKubeObject;
  readonly joining: JoiningNodes;
}

/**
 * One patch syncs the Node and, once no hook is pending, removes the taint that kept pods away; before that, the pods
 * planned on it are nominated. (03:L-11 to L-13, 02:L-41)
 */
async function syncNode(claim: NodeClaim, joined: JoinedNode, context: KarpenterContext): Promise<ClaimStepResult> {
  const { node, joining } = joined;
  const hookResults = await runRegistrationHooks(claim, context.cloud.registrationHooks ?? []);
  const labelled = withExtraLabels(claim, hookResults.labels);
  const isPassed = hookResults.pending.length === 0;
  const afterMs = isPassed ? msUntilOpen(claim, joined, context) : 0;
  if (afterMs > 0 && isReadyForPods(node)) return { claim, afterMs };
  const isOpened = isPassed && afterMs <= 0;
  const write = () =>
    jsonPatchObject(context.client, builtInTypes.Node, node, {
      patchOf: (current) => {
        const synced = syncedNode(current, labelled);
        return nodePatch(current, isOpened ? nodeMarkedRegistered(synced) : synced);
      },
    });
  const nominate = () => nominatePlannedPods(claim.metadata.name ?? "", node, context);
  if (isOpened && isAwaited(claim, node, context)) await joining.openings.open({ nominate, open: write });
  else {
    if (isOpened) await nominate();
    await write();
  }
  if (!isPassed) return withHooksPending(labelled, hookResults, context);
  return isOpened ? withRegistered(labelled, node, context) : { ...withNodeNotReady(labelled, context), afterMs };
}

/** Whether pods are planned on the Node, which are to be nominated before it opens. (02:L-41) */
function isAwaited(
  { metadata: { name = "" } }: NodeClaim,
  node: NodeKubeObject,
  { cluster, nominatesPods }: KarpenterContext,
): boolean {
  return nominatesPods() && hasUnregisteredTaint(node) && cluster.plannedPods.podsOf(name).length > 0;
}

/** How long the Node keeps its taint yet. (02:L-46, L-47) */
function msUntilOpen(claim: NodeClaim, { node, joining: { times } }: JoinedNode, context: KarpenterContext): number {
  if (!isAwaited(claim, node, context)) return 0;
  const { clock } = context;
  const { uid = "" } = claim.metadata;
  const isReady = isReadyForPods(node);
  const key = `${uid} ${isReady ? "ready" : "joined"}`;
  const since = times.get(key) ?? clock.now();
  times.set(key, since, rememberedMs);
  return since + (isReady ? settleMs : maxNotReadyMs) - clock.now();
}

/** Taints for not being ready go a moment after it is: as long as one is there, nominations are cleared. */
function isReadyForPods(node: NodeKubeObject): boolean {
  const isClosing = (taint: Taint) => isEphemeralTaint(taint) && !isSameTaint(taint, taints.unregistered);
  return isNodeReady(node) && !(node.spec?.taints ?? []).some(isClosing);
}

function withNodeNotReady(claim: NodeClaim, { clock }: KarpenterContext): ClaimStepResult {
  const message = "the node has joined and is not ready; pods planned on it wait";
  const finding = { reason: nodeClaimReasons.nodeNotReady, message };
  return { claim: withClaimCondition(claim, "Registered", { status: "Unknown", ...finding, nowMs: clock.now() }) };
}

function withRegistered(claim: NodeClaim, { metadata }: NodeKubeObject, context: KarpenterContext): ClaimStepResult {
  const { name = "" } = metadata;
  const done = withClaimConditionTrue(claim, "Registered", context.clock.now());
  return {
    claim: { ...done, status: { ...done.status, nodeName: name } },
    afterWrite: async () => {
      context.log.info("registered nodeclaim", { Node: { name } });
      const { [labels.nodePool]: nodepool = "", [labels.zone]: zone = "" } = claim.metadata.labels ?? {};
      context.metrics.count("nodes_created_total", { nodepool, zone });
      await recordRegistrationOutcome(claim, { isRegistered: true }, context);
    },
  };
}

function withHooksPending(
  claim: NodeClaim,
  { pending, afterMs, error }: HookResults,
  { clock, log }: KarpenterContext,
): ClaimStepResult {
  log.debug("awaiting registration hooks", { hooks: pending });
  const finding = { reason: nodeClaimReasons.registrationHookPending, message: pending.join(", ") };
  const pendingClaim = withClaimCondition(claim, "Registered", { status: "Unknown", ...finding, nowMs: clock.now() });
  return { claim: pendingClaim, afterMs, error };
}

function withNodeNotFound(claim: NodeClaim, { clock }: KarpenterContext): ClaimStepResult {
  const finding = { reason: nodeClaimReasons.nodeNotFound, message: "the node has not joined the cluster" };
  return { claim: withClaimCondition(claim, "Registered", { status: "Unknown", ...finding, nowMs: clock.now() }) };
}

function withMultipleNodes(claim: NodeClaim, { clock }: KarpenterContext): ClaimStepResult {
  const finding = { reason: nodeClaimReasons.multipleNodesFound, message: "more than one node has this provider id" };
  return { claim: withClaimCondition(claim, "Registered", { status: "False", ...finding, nowMs: clock.now() }) };
}

function withExtraLabels(claim: NodeClaim, added: Readonly<Record<string, string>>): NodeClaim {
  if (Object.keys(added).length === 0) return claim;
  return { ...claim, metadata: { ...claim.metadata, labels: { ...claim.metadata.labels, ...added } } };
}

/** Pods may have been bound before the node had its labels and taints. (03:L-10) */
function warnOfMissingTaint(claim: NodeClaim, node: NodeKubeObject, { log, recordEvent }: KarpenterContext): void {
  const { metadata } = node;
  if (hasUnregisteredTaint(node) || metadata.labels?.[labels.registered] !== undefined) return;
  const { key } = taints.unregistered;
  log.error("node claim registration error", {
    taint: key,
    error: new Error(`node ${metadata.name ?? ""} joined without the taint ${key}`),
  });
  recordEvent(claim, {
    type: "Warning",
    reason: "UnregisteredTaintMissing",
    message: `Node joined without taint ${key}: pods may have been placed on it before it was registered`,
    dedupe: { values: [claim.metadata.uid ?? ""] },
  });
}
