import { isTrue } from "../../api/conditions/engine.ts";
import type { NodeClaim } from "../../api/kinds/node-claim.ts";
import { annotations, finalizers, labels } from "../../api/labels.ts";
import { isCloudError } from "../../cloud/error.ts";
import { nodeClassLabel } from "../../core/scenario/complete-machines.ts";
import { type Loop, type LoopWorld, on, reconcileLoop } from "../../kube/loop.ts";
import type { LookAgain } from "../../kube/reconciler.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import { claimOf, isReady, type LiveNode, nodesIn } from "../node-claim/lookups.ts";
import { writeClaim } from "../node-claim/steps.ts";
import type { Parts } from "../parts.ts";
import { workers } from "../settings.ts";
import { quietly, remove, unless } from "../writes.ts";
import { drain } from "./drain.ts";
import type { EvictionQueue } from "./eviction-queue.ts";
import { endInstance } from "./instance.ts";
import { indexNodes, type NodeScene, type NodeStep } from "./node-scene.ts";
import { release } from "./release.ts";
import { taint } from "./taint.ts";
import { awaitVolumes, indexVolumes } from "./volumes.ts";

const controller = "node.termination";

export interface TerminationParts extends Parts {
  readonly queue: EvictionQueue;
}

/** Lets a Node that is deleted go in good order: its pods, its volumes, its machine, then itself. (03 §2.1) */
export function termination(parts: TerminationParts): Loop {
  return reconcileLoop({
    name: controller,
    triggers: [
      on<LiveNode>(builtIn.Node, ({ object }) =>
        object && isEnding(object, parts) ? [object.metadata.name ?? ""] : [],
      ),
    ],
    kinds: [custom.NodeClaim, builtIn.Pod, builtIn.VolumeAttachment, builtIn.PersistentVolumeClaim],
    concurrency: workers({ min: 100, max: 5_000 }, parts.settings),
    backOff: { baseMs: 100, maxMs: 10_000 },
    prepare: (world) => {
      indexNodes(world);
      indexVolumes(world);
    },
    reconcile: quietly(async (name: string, world: LoopWorld) => {
      const node = nodesIn(world).get(name);
      return node === undefined || !isEnding(node, parts) ? undefined : terminate(node, world, parts);
    }),
  });
}

function isEnding({ metadata }: LiveNode, { cloud }: Parts): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers ?? []).includes(finalizers.termination) &&
    cloud.nodeClasses.some((served) => metadata.labels?.[nodeClassLabel(served)] !== undefined)
  );
}

async function terminate(node: LiveNode, world: LoopWorld, parts: TerminationParts): Promise<LookAgain | undefined> {
  const claim = await endClaim(node, world);
  const names = {
    Node: { name: node.metadata.name ?? "" },
    ...(claim && { NodeClaim: { name: claim.metadata.name } }),
  };
  const log = parts.log.with({ controller, ...names });
  const scene: NodeScene = { node, claim, world, parts, queue: parts.queue, log };
  if (await isMachineGone(scene)) return release(scene);
  const deadlineMs = deadlineOf(claim);
  tellDeadline(scene);
  return takeSteps({ ...scene, deadlineMs, node: await taint(scene) });
}

/** Deleting the Node means its claim too. Gives the claim as it is then: our own write is nobody's conflict. (03:T-1) */
async function endClaim(node: LiveNode, world: LoopWorld): Promise<NodeClaim | undefined> {
  const claim = claimOf(node, world);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return claim;
  await remove(world.client, custom.NodeClaim, claim);
  return claimOf(node, world);
}

/**
 * A machine that the cloud does not know has no pods to drain; one whose kubelet reports has, and of one without an id
 * nothing can be known. (03:T-5)
 */
async function isMachineGone({ node, parts }: NodeScene): Promise<boolean> {
  const id = node.spec?.providerID ?? "";
  if (id === "" || isReady(node)) return false;
  try {
    await parts.cloud.get(id);
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

function tellDeadline({ node, world, claim }: NodeScene): void {
  const written = claim?.metadata.annotations?.[annotations.terminationTimestamp];
  if (written === undefined) return;
  world.tell(node, {
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message: `All pods will be deleted by ${written}`,
    dedupe: { values: [node.metadata.uid ?? ""] },
  });
}

/** In order, until one has to wait; what they found out is written whatever happens. (03:T-8) */
async function takeSteps(scene: NodeScene): Promise<LookAgain | undefined> {
  let { claim } = scene;
  let afterMs: number | undefined;
  try {
    for (const step of [drain, awaitVolumes, endInstance]) {
      const taken: NodeStep = await step({ ...scene, claim });
      claim = taken.claim;
      afterMs = taken.afterMs;
      if (afterMs !== undefined) break;
    }
  } finally {
    await writeDown(scene, claim);
  }
  return afterMs === undefined ? release(scene) : { afterMs };
}

/** Refused where somebody else wrote meanwhile: then all is looked at again. Counted once written. (03:T-8, S-13) */
async function writeDown({ claim: before, node, world, parts }: NodeScene, after: NodeClaim | undefined) {
  if (before === undefined || after === undefined || after === before) return;
  const written = await unless(writeClaim(world.client, { before, after }), "not-found");
  if (written === undefined || !isTrue(after, "Drained") || isTrue(before, "Drained")) return;
  parts.metrics.count("nodes_drained_total", { nodepool: node.metadata.labels?.[labels.nodePool] ?? "" });
}
