import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { labels } from "../../api/labels.ts";
import type { RepairPolicy } from "../../cloud/cloud-provider.ts";
import { type Controller, type ControllerContext, triggerOn } from "../../kube/controller.ts";
import type { ReconcileResult } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, karpenterController, withLogValues } from "../karpenter-context.ts";
import {
  allNodesForClaim,
  claimForNode,
  indexClaimsAndNodes,
  isManagedClaim,
  type NodeKubeObject,
  nodeView,
  poolNameOf,
} from "../node-claim/claim-lookups.ts";
import { disruptClaim } from "../node-claim/disrupt-claim.ts";
import { annotateTerminationTimestamp, terminationTimestampOf } from "../node-claim/termination-timestamp.ts";
import { scaledConcurrency } from "../settings.ts";
import { snakeCase } from "../snake-case.ts";
import { requeueOnConflict } from "../writes.ts";

/** If more nodes than this are unhealthy, the cause is not the nodes. (03:R-4) */
const maxUnhealthyPercent = 20;
const recheckMs = 5 * 60_000;
const blockedDedupeMs = 15 * 60_000;

/** Deletes nodes that have been unhealthy for longer than the provider tolerates. (03 §3) */
export function nodeHealthController(dependencies: ControllerDependencies): Controller {
  return karpenterController(dependencies, {
    name: "node.health",
    triggers: [
      triggerOn<NodeKubeObject>(builtInTypes.Node, ownNameWhenConditionsChanged),
      triggerOn<NodeClaim>(karpenterTypes.NodeClaim, nodeNamesOnNewProviderId),
    ],
    reads: [{ of: "cluster state", because: "the pods of the node are counted in a metric" }],
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    backOff: { baseMs: 100, maxMs: 60_000 },
    start: indexClaimsAndNodes,
    reconcile: requeueOnConflict(async (name: string, context: KarpenterContext) => {
      const node = nodeView(context).get(name);
      const claim = node && claimForNode(node, context);
      if (node === undefined || claim === undefined || !isManagedClaim(claim, context.cloud)) return undefined;
      const names = { Node: { name }, NodeClaim: { name: claim.metadata.name ?? "" } };
      return repairNode(node, claim, withLogValues(context, names));
    }),
  });
}

/** A Node can be unwell before its claim is known by its provider id. */
function nodeNamesOnNewProviderId(
  { object, old }: ObjectChange<NodeClaim>,
  context: ControllerContext,
): readonly string[] {
  if (object === undefined || object.status?.providerID === old?.status?.providerID) return [];
  return allNodesForClaim(object, context).map(({ metadata }) => metadata.name ?? "");
}

/** Heartbeats alone change nothing. (03:R-2) */
function ownNameWhenConditionsChanged({ object, old }: ObjectChange<NodeKubeObject>): readonly string[] {
  if (object === undefined) return [];
  const isSame = old !== undefined && conditionText(old) === conditionText(object);
  return isSame ? [] : [object.metadata.name ?? ""];
}

function conditionText({ status }: NodeKubeObject): string {
  return JSON.stringify((status?.conditions ?? []).map((one) => [one.type, one.status, one.lastTransitionTime]));
}

async function repairNode(node: NodeKubeObject, claim: NodeClaim, context: KarpenterContext): Promise<ReconcileResult> {
  const dueRepair = firstDueRepair(node, context.cloud.repairPolicies);
  if (dueRepair === undefined) return undefined;
  const waitMs = dueRepair.dueAt - context.clock.now();
  if (waitMs > 0) return { afterMs: waitMs };
  if (isUnhealthyLimitExceeded(claim, context)) {
    recordRepairBlocked(node, claim, context);
    return { afterMs: recheckMs };
  }
  await deleteClaim(claim, dueRepair.policy, context);
  return undefined;
}

/** Of all policies the node violates, the one whose toleration ends first. (03:R-3) */
function firstDueRepair(
  { status }: Pick<NodeKubeObject, "status">,
  policies: readonly RepairPolicy[],
): { readonly policy: RepairPolicy; readonly dueAt: number } | undefined {
  const due = policies.flatMap((policy) => {
    const { conditionType, conditionStatus } = policy;
    const found = status?.conditions?.find((one) => one.type === conditionType && one.status === conditionStatus);
    if (found === undefined) return [];
    return [{ policy, dueAt: (Date.parse(found.lastTransitionTime ?? "") || 0) + policy.tolerationMs }];
  });
  return due.sort((a, b) => a.dueAt - b.dueAt)[0];
}

/** Counts every unhealthy node, for however long: of the pool, or of the cluster for a claim without a pool. (03:R-4) */
function isUnhealthyLimitExceeded(claim: NodeClaim, context: KarpenterContext): boolean {
  const pool = poolNameOf(claim);
  const nodes = nodeView(context)
    .all()
    .filter(({ metadata }) => pool === undefined || metadata.labels?.[labels.nodePool] === pool);
  const unhealthy = nodes.filter((node) => firstDueRepair(node, context.cloud.repairPolicies) !== undefined);
  return unhealthy.length > Math.ceil((maxUnhealthyPercent * nodes.length) / 100);
}

function recordRepairBlocked(node: NodeKubeObject, claim: NodeClaim, { recordEvent }: KarpenterContext): void {
  const where = poolNameOf(claim) === undefined ? "the cluster" : `nodepool ${poolNameOf(claim)}`;
  recordEvent(node, {
    type: "Warning",
    reason: "NodeRepairBlocked",
    message: `More than ${maxUnhealthyPercent}% of the nodes of ${where} are unhealthy`,
    dedupe: { values: [node.metadata.uid ?? ""], durationMs: blockedDedupeMs },
  });
}

/**
 * At once, whatever budgets and pods say: pods of an unhealthy node are better off elsewhere. A claim that is already
 * being deleted only gets the earlier deadline. (03)
 */
async function deleteClaim(
  claim: NodeClaim,
  { conditionType }: RepairPolicy,
  context: KarpenterContext,
): Promise<void> {
  const annotated = await withImmediateTermination(claim, context);
  const pods = context.cluster.nodeByClaimName(claim.metadata.name ?? "")?.pods;
  if (!(await disruptClaim(annotated, { reason: "unhealthy", pods }, context))) return;
  context.log.info("deleting unhealthy node", { condition: conditionType });
  context.metrics.count("nodeclaims_unhealthy_disrupted_total", {
    condition: snakeCase(conditionType),
    nodepool: poolNameOf(claim) ?? "",
    capacity_type: claim.metadata.labels?.[labels.capacityType] ?? "",
    image_id: claim.status?.imageID ?? "",
  });
}

/**
 * A deadline that has passed is kept; a later one is brought forward. Whatever else changed about the claim does not matter: a node
 * that is unwell for a moment only must not get away because its claim was just initialized. (03:R-5)
 */
async function withImmediateTermination(claim: NodeClaim, context: KarpenterContext): Promise<NodeClaim> {
  const nowMs = context.clock.now();
  const hasPassed = Date.parse(terminationTimestampOf(claim) ?? "") <= nowMs;
  return hasPassed ? claim : annotateTerminationTimestamp(claim, { atMs: nowMs, hasOptimisticLock: false }, context);
}
