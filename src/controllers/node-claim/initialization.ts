import { isTrue } from "../../api/conditions/engine.ts";
import { type InitializationReason, isSettled } from "../../api/conditions/node-claim.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, ephemeralTaintPrefix, knownEphemeralTaints, labels, type Taint } from "../../api/labels.ts";
import { formatTaint } from "../../core/tolerations.ts";
import { builtIn } from "../../kube/resources.ts";
import { Quantity } from "../../util/quantity.ts";
import { patch } from "../writes.ts";
import { restamped, withFinding, withTrue } from "./claim-conditions.ts";
import { localSlices, unpublishedDriver } from "./dra.ts";
import { isReady, type LiveNode, nodeOf } from "./lookups.ts";
import { isSameTaint } from "./node-sync.ts";
import type { Scene } from "./scene.ts";
import type { Step } from "./steps.ts";

/** Why pods cannot count on the node yet. */
interface Obstacle {
  readonly reason: InitializationReason;
  readonly message: string;
  /** For what no event tells of. */
  readonly afterMs?: number | undefined;
}

const slicesPollMs = 5_000;

/** Finds out when everything promised to pods is there; once and for all. (03 §1.4, L-18) */
export async function initialize(claim: NodeClaim, scene: Scene): Promise<Step> {
  const { world } = scene;
  if (isSettled(claim, "Initialized")) return { claim: restamped(claim, "Initialized", world.clock.now()) };
  if (!isTrue(claim, "Registered")) return { claim };
  const node = nodeOf(claim, world);
  const obstacle = node === undefined ? noNode : obstacleOf(node, claim, scene);
  if (obstacle !== undefined) return blocked(claim, obstacle, scene);
  return node === undefined ? { claim } : initialized(claim, node, scene);
}

function blocked(claim: NodeClaim, { reason, message, afterMs }: Obstacle, { world }: Scene): Step {
  const finding = { status: "Unknown", reason, message, nowMs: world.clock.now() } as const;
  return { claim: withFinding(claim, "Initialized", finding), afterMs };
}

async function initialized(claim: NodeClaim, node: LiveNode, { world, log }: Scene): Promise<Step> {
  if (node.metadata.labels?.[labels.initialized] !== "true") {
    const body = { metadata: { labels: { [labels.initialized]: "true" } } };
    await patch(world.client, builtIn.Node, node, { body });
  }
  const { allocatable } = node.status ?? {};
  return {
    claim: withTrue(claim, "Initialized", world.clock.now()),
    told: () => log.info("initialized nodeclaim", { allocatable }),
  };
}

const noNode: Obstacle = { reason: "NodeNotFound", message: "the node has not joined the cluster" };

/** The first of these is the one that is told. */
function obstacleOf(node: LiveNode, claim: NodeClaim, scene: Scene): Obstacle | undefined {
  return (
    unready(node) ?? stillTainted(node, claim) ?? unregisteredResource(node, claim) ?? unpublished(node, claim, scene)
  );
}

function unready(node: LiveNode): Obstacle | undefined {
  return isReady(node) ? undefined : { reason: "NodeNotReady", message: "the node is not ready" };
}

function stillTainted({ spec }: LiveNode, claim: NodeClaim): Obstacle | undefined {
  const worn = spec?.taints ?? [];
  const startup = worn.find((taint) => claim.spec.startupTaints?.some((one) => isSameTaint(one, taint)));
  if (startup !== undefined) {
    return { reason: "StartupTaintsExist", message: `startup taint ${formatTaint(startup)} is still there` };
  }
  const passing = worn.find(isEphemeral);
  return passing && { reason: "KnownEphemeralTaintsExist", message: `taint ${formatTaint(passing)} is still there` };
}

function isEphemeral(taint: Taint): boolean {
  return taint.key.startsWith(ephemeralTaintPrefix) || knownEphemeralTaints.some((one) => isSameTaint(one, taint));
}

/** A device plugin that has not reported leaves its resource at zero. */
function unregisteredResource({ status }: LiveNode, { spec }: NodeClaim): Obstacle | undefined {
  const requests = Object.entries(spec.resources?.requests ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const missing = requests.find(([name, asked]) => !isNone(asked) && isNone(status?.allocatable?.[name] ?? 0));
  return (
    missing && { reason: "ResourceNotRegistered", message: `resource ${missing[0]} is asked for and not there yet` }
  );
}

function isNone(amount: string | number): boolean {
  return Quantity.tryParse(amount)?.isZero() ?? true;
}

/** 03:L-16. */
function unpublished(node: LiveNode, { metadata }: NodeClaim, { world, parts }: Scene): Obstacle | undefined {
  const asked = metadata.annotations?.[annotations.requestedDraDrivers];
  if (parts.settings.ignoreDraRequests || asked === undefined) return undefined;
  const driver = unpublishedDriver(asked, localSlices(node, world));
  return driver === undefined
    ? undefined
    : {
        reason: "DRADriverPoolsNotPublished",
        message: `driver ${driver} has not published a complete pool of devices`,
        afterMs: slicesPollMs,
      };
}
