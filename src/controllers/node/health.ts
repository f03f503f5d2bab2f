import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, labels } from "../../api/labels.ts";
import type { RepairPolicy } from "../../cloud/cloud-provider.ts";
import { type Controller, type ControllerContext, reconcileController, triggerOn } from "../../kube/controller.ts";
import type { RequeueAfter } from "../../kube/reconciler.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ObjectChange } from "../../kube/view.ts";
import type { Logger } from "../../util/logger.ts";
import { rfc3339 } from "../../util/timestamp.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import {
  claimForNode,
  indexClaimsAndNodes,
  isManagedClaim,
  type NodeKubeObject,
  nodeView,
  poolNameOf,
} from "../node-claim/claim-lookups.ts";
import { disruptClaim } from "../node-claim/disrupt-claim.ts";
import { scaledConcurrency } from "../settings.ts";
import { mergePatchObject, requeueOnConflict } from "../writes.ts";

const controller = "node.health";
/** More than this, and it is not the nodes that are ill. (03:R-4) */
const maxUnhealthyPercent = 20;
const recheckMs = 5 * 60_000;
const blockedDedupeMs = 15 * 60_000;

/** Replaces nodes that have been ill for longer than their provider tolerates. (03 §3) */
export function nodeHealthController(dependencies: ControllerDependencies): Controller {
  return reconcileController({
    name: controller,
    triggers: [triggerOn<NodeKubeObject>(builtInTypes.Node, ownNameWhenConditionsChanged)],
    kinds: [karpenterTypes.NodeClaim],
    concurrency: scaledConcurrency({ min: 10, max: 1_000 }, dependencies.settings),
    backOff: { baseMs: 100, maxMs: 60_000 },
    prepare: indexClaimsAndNodes,
    reconcile: requeueOnConflict(async (name: string, context: ControllerContext) => {
      const node = nodeView(context).get(name);
      const claim = node && claimForNode(node, context);
      if (node === undefined || claim === undefined || !isManagedClaim(claim, dependencies.cloud)) return undefined;
      return repairNode({ node, claim, context, dependencies });
    }),
  });
}

/** Heartbeats say nothing new. (03:R-2) */
function ownNameWhenConditionsChanged({ object, old }: ObjectChange<NodeKubeObject>): readonly string[] {
  if (object === undefined) return [];
  const isSame = old !== undefined && conditionText(old) === conditionText(object);
  return isSame ? [] : [object.metadata.name ?? ""];
}

function conditionText({ status }: NodeKubeObject): string {
  return JSON.stringify((status?.conditions ?? []).map((one) => [one.type, one.status, one.lastTransitionTime]));
}

interface RepairContext {
  readonly node: NodeKubeObject;
  readonly claim: NodeClaim;
  readonly context: ControllerContext;
  readonly dependencies: ControllerDependencies;
}

async function repairNode(repairContext: RepairContext): Promise<RequeueAfter | undefined> {
  const { node, context, dependencies } = repairContext;
  const dueRepair = firstDueRepair(node, dependencies.cloud.repairPolicies);
  if (dueRepair === undefined) return undefined;
  const waitMs = dueRepair.dueAt - context.clock.now();
  if (waitMs > 0) return { afterMs: waitMs };
  if (isUnhealthyLimitExceeded(repairContext)) {
    recordRepairBlocked(repairContext);
    return { afterMs: recheckMs };
  }
  await deleteUnhealthyClaim(repairContext, dueRepair.policy);
  return undefined;
}

/** Of all that ails it, what was tolerated first to its end. (03:R-3) */
export function firstDueRepair(
  { status }: Pick<NodeKubeObject, "status">,
  policies: readonly RepairPolicy[],
): { readonly policy: RepairPolicy; readonly dueAt: number } | undefined {
  const due = policies.flatMap((policy) => {
    const found = status?.conditions?.find(
      ({ type, status: is }) => type === policy.conditionType && is === policy.conditionStatus,
    );
    if (found === undefined) return [];
    return [{ policy, dueAt: (Date.parse(found.lastTransitionTime ?? "") || 0) + policy.tolerationMs }];
  });
  return due.sort((a, b) => a.dueAt - b.dueAt)[0];
}

/** Counts all that are ill, however long; of the pool, or of the cluster for a claim without one. (03:R-4) */
function isUnhealthyLimitExceeded({ claim, context, dependencies }: RepairContext): boolean {
  const pool = poolNameOf(claim);
  const nodes = nodeView(context)
    .all()
    .filter(({ metadata }) => pool === undefined || metadata.labels?.[labels.nodePool] === pool);
  const unhealthy = nodes.filter((node) => firstDueRepair(node, dependencies.cloud.repairPolicies) !== undefined);
  return unhealthy.length > Math.ceil((maxUnhealthyPercent * nodes.length) / 100);
}

function recordRepairBlocked({ node, claim, context }: RepairContext): void {
  const where = poolNameOf(claim) === undefined ? "the cluster" : `nodepool ${poolNameOf(claim)}`;
  context.recordEvent(node, {
    type: "Warning",
    reason: "NodeRepairBlocked",
    message: `More than ${maxUnhealthyPercent}% of the nodes of ${where} are unhealthy`,
    dedupe: { values: [node.metadata.uid ?? ""], durationMs: blockedDedupeMs },
  });
}

/**
 * At once and whatever holds it: pods of a sick node are better off elsewhere. One that is on its way out already is
 * only hurried. (03)
 */
async function deleteUnhealthyClaim(repairContext: RepairContext, { conditionType }: RepairPolicy): Promise<void> {
  const { node, claim, context, dependencies } = repairContext;
  const name = node.metadata.name ?? "";
  const log = dependencies.log.with({ controller, Node: { name }, NodeClaim: { name: claim.metadata.name ?? "" } });
  const annotated = await withImmediateTermination(repairContext, log);
  const pods = dependencies.cluster.nodeByName(name)?.pods;
  if (!(await disruptClaim(annotated, { reason: "unhealthy", context, dependencies, pods }))) return;
  log.info("deleting unhealthy node", { condition: conditionType });
  dependencies.metrics.count("nodeclaims_unhealthy_disrupted_total", {
    condition: snakeCase(conditionType),
    nodepool: poolNameOf(claim) ?? "",
    capacity_type: claim.metadata.labels?.[labels.capacityType] ?? "",
    image_id: claim.status?.imageID ?? "",
  });
}

/** One that has passed already stands; any later one is brought forward. (03:R-5) */
async function withImmediateTermination({ claim, context }: RepairContext, log: Logger): Promise<NodeClaim> {
  const nowMs = context.clock.now();
  if (Date.parse(claim.metadata.annotations?.[annotations.terminationTimestamp] ?? "") <= nowMs) return claim;
  const added = { [annotations.terminationTimestamp]: rfc3339(nowMs) };
  const body = { metadata: { annotations: added } };
  const annotated = await mergePatchObject<NodeClaim>(context.client, karpenterTypes.NodeClaim, claim, {
    body,
    hasOptimisticLock: true,
  });
  log.info("annotated nodeclaim", added);
  return annotated;
}

/** `PIDPressure` as metrics spell it: `pid_pressure`. */
function snakeCase(text: string): string {
  return text.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toLowerCase();
}
