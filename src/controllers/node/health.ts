import { timestamp } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, labels } from "../../api/labels.ts";
import type { RepairPolicy } from "../../cloud/provider.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import type { Change } from "../../kube/view.ts";
import type { Logger } from "../../util/logger.ts";
import { disruptClaim } from "../node-claim/disrupt.ts";
import { claimOf, indexMachines, isManaged, type LiveNode, nodesIn, poolNameOf } from "../node-claim/lookups.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { patch, quietly } from "../writes.ts";

const controller = "node.health";
/** More than this, and it is not the nodes that are ill. (03:R-4) */
const mostUnhealthyPercent = 20;
const recheckMs = 5 * 60_000;
const blockedDedupeMs = 15 * 60_000;

/** Replaces nodes that have been ill for longer than their provider tolerates. (03 §3) */
export function health(parts: Parts): Loop {
  return reconcileLoop({
    name: controller,
    triggers: [on<LiveNode>(builtIn.Node, whenConditionsMoved)],
    kinds: [custom.NodeClaim],
    concurrency: workers({ min: 10, max: 1_000 }, parts.settings),
    backOff: { baseMs: 100, maxMs: 60_000 },
    prepare: indexMachines,
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const node = nodesIn(world).get(name);
      const claim = node && claimOf(node, world);
      if (node === undefined || claim === undefined || !isManaged(claim, parts.cloud)) return undefined;
      return repair({ node, claim, world, parts });
    }),
  });
}

/** Heartbeats say nothing new. (03:R-2) */
function whenConditionsMoved({ object, old }: Change<LiveNode>): readonly string[] {
  if (object === undefined) return [];
  const isSame = old !== undefined && conditionText(old) === conditionText(object);
  return isSame ? [] : [object.metadata.name ?? ""];
}

function conditionText({ status }: LiveNode): string {
  return JSON.stringify((status?.conditions ?? []).map((one) => [one.type, one.status, one.lastTransitionTime]));
}

interface Patient {
  readonly node: LiveNode;
  readonly claim: NodeClaim;
  readonly world: LoopWorld;
  readonly parts: Parts;
}

async function repair(patient: Patient): Promise<LookAgain | undefined> {
  const { node, world, parts } = patient;
  const illness = firstDue(node, parts.cloud.repairPolicies);
  if (illness === undefined) return undefined;
  const waitMs = illness.dueAt - world.clock.now();
  if (waitMs > 0) return { afterMs: waitMs };
  if (isEpidemic(patient)) {
    tellBlocked(patient);
    return { afterMs: recheckMs };
  }
  await replace(patient, illness.policy);
  return undefined;
}

/** Of all that ails it, what was tolerated first to its end. (03:R-3) */
export function firstDue(
  { status }: Pick<LiveNode, "status">,
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
function isEpidemic({ claim, world, parts }: Patient): boolean {
  const pool = poolNameOf(claim);
  const nodes = nodesIn(world)
    .all()
    .filter(({ metadata }) => pool === undefined || metadata.labels?.[labels.nodePool] === pool);
  const ill = nodes.filter((node) => firstDue(node, parts.cloud.repairPolicies) !== undefined);
  return ill.length > Math.ceil((mostUnhealthyPercent * nodes.length) / 100);
}

function tellBlocked({ node, claim, world }: Patient): void {
  const where = poolNameOf(claim) === undefined ? "the cluster" : `nodepool ${poolNameOf(claim)}`;
  world.tell(node, {
    type: "Warning",
    reason: "NodeRepairBlocked",
    message: `More than ${mostUnhealthyPercent}% of the nodes of ${where} are unhealthy`,
    dedupe: { values: [node.metadata.uid ?? ""], forMs: blockedDedupeMs },
  });
}

/**
 * At once and whatever holds it: pods of a sick node are better off elsewhere. One that is on its way out already is
 * only hurried. (03)
 */
async function replace(patient: Patient, { conditionType }: RepairPolicy): Promise<void> {
  const { node, claim, world, parts } = patient;
  const name = node.metadata.name ?? "";
  const log = parts.log.with({ controller, Node: { name }, NodeClaim: { name: claim.metadata.name ?? "" } });
  const hurried = await withDeadline(patient, log);
  const pods = parts.cluster.nodeByName(name)?.pods;
  if (!(await disruptClaim(hurried, { reason: "unhealthy", world, parts, pods }))) return;
  log.info("deleting unhealthy node", { condition: conditionType });
  parts.metrics.count("nodeclaims_unhealthy_disrupted_total", {
    condition: snakeCase(conditionType),
    nodepool: poolNameOf(claim) ?? "",
    capacity_type: claim.metadata.labels?.[labels.capacityType] ?? "",
    image_id: claim.status?.imageID ?? "",
  });
}

/** One that has passed already stands; any later one is brought forward. (03:R-5) */
async function withDeadline({ claim, world }: Patient, log: Logger): Promise<NodeClaim> {
  const nowMs = world.clock.now();
  if (Date.parse(claim.metadata.annotations?.[annotations.terminationTimestamp] ?? "") <= nowMs) return claim;
  const added = { [annotations.terminationTimestamp]: timestamp(nowMs) };
  const body = { metadata: { annotations: added } };
  const hurried = await patch<NodeClaim>(world.client, custom.NodeClaim, claim, { body, isLocked: true });
  log.info("annotated nodeclaim", added);
  return hurried;
}

/** `PIDPressure` as metrics spell it: `pid_pressure`. */
function snakeCase(text: string): string {
  return text.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toLowerCase();
}
