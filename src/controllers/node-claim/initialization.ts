import { type InitializationReason, isConditionSettled } from "../../api/conditions/node-claim.ts";
import { isStatusConditionTrue } from "../../api/conditions/set-condition.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, isEphemeralTaint, isSameTaint, labels } from "../../api/labels.ts";
import { formatTaint } from "../../core/tolerations.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { mergePatchObject } from "../writes.ts";
import { withClaimCondition, withClaimConditionRefreshed, withClaimConditionTrue } from "./claim-conditions.ts";
import { isNodeReady, type NodeKubeObject, nodeForClaim } from "./claim-lookups.ts";
import type { ClaimStepResult } from "./claim-steps.ts";
import { resourceSlicesOfNode, unpublishedDriver } from "./dra-drivers.ts";

/** Why the node is not initialized yet. */
interface Obstacle {
  readonly reason: InitializationReason;
  readonly message: string;
  /** For obstacles whose end no watch announces. */
  readonly afterMs?: number | undefined;
}

export const slicesPollMs = 5_000;

/**
 * Sets Initialized once the node is ready, its startup taints are gone and its resources are registered; it stays set.
 * (03 §1.4, L-18)
 */
export async function checkInitialization(claim: NodeClaim, context: KarpenterContext): Promise<ClaimStepResult> {
  if (isConditionSettled(claim, "Initialized"))
    return { claim: withClaimConditionRefreshed(claim, "Initialized", context.clock.now()) };
  if (!isStatusConditionTrue(claim, "Registered")) return { claim };
  const node = nodeForClaim(claim, context);
  const obstacle = node === undefined ? nodeNotFoundObstacle : obstacleOf(node, claim, context);
  if (obstacle !== undefined) return withObstacle(claim, obstacle, context);
  return node === undefined ? { claim } : withInitialized(claim, node, context);
}

function withObstacle(claim: NodeClaim, obstacle: Obstacle, { clock }: KarpenterContext): ClaimStepResult {
  const { reason, message, afterMs } = obstacle;
  const finding = { status: "Unknown", reason, message, nowMs: clock.now() } as const;
  return { claim: withClaimCondition(claim, "Initialized", finding), afterMs };
}

async function withInitialized(
  claim: NodeClaim,
  node: NodeKubeObject,
  { client, clock, log }: KarpenterContext,
): Promise<ClaimStepResult> {
  if (node.metadata.labels?.[labels.initialized] !== "true") {
    const body = { metadata: { labels: { [labels.initialized]: "true" } } };
    await mergePatchObject(client, builtInTypes.Node, node, { body });
  }
  const { allocatable } = node.status ?? {};
  return {
    claim: withClaimConditionTrue(claim, "Initialized", clock.now()),
    afterWrite: () => log.info("initialized nodeclaim", { allocatable }),
  };
}

const nodeNotFoundObstacle: Obstacle = { reason: "NodeNotFound", message: "the node has not joined the cluster" };

/** The first one found is reported. */
function obstacleOf(node: NodeKubeObject, claim: NodeClaim, context: KarpenterContext): Obstacle | undefined {
  return (
    notReadyObstacle(node) ??
    taintObstacle(node, claim) ??
    resourceObstacle(node, claim) ??
    draObstacle(node, claim, context)
  );
}

function notReadyObstacle(node: NodeKubeObject): Obstacle | undefined {
  return isNodeReady(node) ? undefined : { reason: "NodeNotReady", message: "the node is not ready" };
}

function taintObstacle({ spec }: NodeKubeObject, claim: NodeClaim): Obstacle | undefined {
  const nodeTaints = spec?.taints ?? [];
  const startup = nodeTaints.find((taint) => claim.spec.startupTaints?.some((one) => isSameTaint(one, taint)));
  if (startup !== undefined) {
    return { reason: "StartupTaintsExist", message: `startup taint ${formatTaint(startup)} has not been removed` };
  }
  const ephemeral = nodeTaints.find(isEphemeralTaint);
  if (ephemeral === undefined) return undefined;
  return { reason: "KnownEphemeralTaintsExist", message: `taint ${formatTaint(ephemeral)} has not been removed` };
}

/** Until a device plugin has reported, its resource is zero. */
function resourceObstacle({ status }: NodeKubeObject, { spec }: NodeClaim): Obstacle | undefined {
  const requests = Object.entries(spec.resources?.requests ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const found = status?.allocatable ?? {};
  const missing = requests.find(([name, asked]) => !isZeroOrInvalid(asked) && isZeroOrInvalid(found[name] ?? 0));
  if (missing === undefined) return undefined;
  return { reason: "ResourceNotRegistered", message: `requested resource ${missing[0]} is not registered on the node` };
}

function isZeroOrInvalid(amount: string | number): boolean {
  return Quantity.tryParse(amount)?.isZero() ?? true;
}

/** A requested DRA driver has not published a complete pool of devices for this node. (03:L-16) */
function draObstacle(node: NodeKubeObject, { metadata }: NodeClaim, context: KarpenterContext): Obstacle | undefined {
  const asked = metadata.annotations?.[annotations.requestedDraDrivers];
  if (context.settings.ignoreDraRequests || asked === undefined) return undefined;
  const driver = unpublishedDriver(asked, resourceSlicesOfNode(node, context));
  if (driver === undefined) return undefined;
  const message = `driver ${driver} has not published a complete pool of devices`;
  return { reason: "DRADriverPoolsNotPublished", message, afterMs: slicesPollMs };
}
