import { nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import type { PersistentVolumeClaim } from "../../api/kubernetes/cluster.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { isDrainable } from "../../core/provisionable.ts";
import { claimKeys } from "../../core/volumes.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { builtIn } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import { withFinding, withTrue } from "../node-claim/claim-conditions.ts";
import { type NodeScene, type NodeStep, podsOn } from "./node-scene.ts";

interface VolumeAttachment extends KubeObject {
  readonly spec: {
    readonly nodeName: string;
    readonly source?: { readonly persistentVolumeName?: string | undefined } | undefined;
  };
}

const pollMs = 1_000;
const shownAttachments = 5;
const byNode = "node";

/** For `prepare` of a loop that waits for volumes. */
export function indexVolumes(world: LoopWorld): void {
  attachmentsIn(world).index(byNode, ({ spec }) => spec.nodeName);
}

function attachmentsIn(world: LoopWorld): View<VolumeAttachment> {
  return world.view<VolumeAttachment>(builtIn.VolumeAttachment);
}

/** Waits until volumes have left the machine, so that pods can have them elsewhere. (03 §2.4) */
export async function awaitVolumes(scene: NodeScene): Promise<NodeStep> {
  const { claim, world, deadlineMs } = scene;
  const nowMs = world.clock.now();
  const blocking = blockingAttachments(scene);
  if (blocking.length === 0) return { claim: claim && withTrue(claim, "VolumesDetached", nowMs) };
  if (deadlineMs !== undefined && nowMs >= deadlineMs) {
    const reason = nodeClaimReasons.terminationGracePeriodElapsed;
    const finding = { status: "False", reason, message: "", nowMs } as const;
    return { claim: claim && withFinding(claim, "VolumesDetached", finding) };
  }
  tell(scene, blocking);
  const reason = nodeClaimReasons.awaitingVolumeDetachment;
  const finding = { status: "Unknown", reason, message: "", nowMs } as const;
  return { claim: claim && withFinding(claim, "VolumesDetached", finding), afterMs: pollMs };
}

/** Volumes of pods that do not leave stay attached: they do not hold the node. (03:T-20) */
function blockingAttachments({ node, world }: NodeScene): readonly VolumeAttachment[] {
  const attached = attachmentsIn(world)
    .by(byNode, node.metadata.name ?? "")
    .filter(({ spec }) => spec.source?.persistentVolumeName !== undefined);
  if (attached.length === 0) return [];
  const nowMs = world.clock.now();
  const staying = podsOn(node, world).filter((pod) => !isDrainable(pod, nowMs));
  const kept = new Set(staying.flatMap((pod) => volumesOf(pod, world)));
  return attached.filter(({ spec }) => !kept.has(spec.source?.persistentVolumeName ?? ""));
}

/** Names of the PersistentVolumes a pod uses. */
function volumesOf(pod: Pod, world: LoopWorld): readonly string[] {
  const claims = world.view<KubeObject & PersistentVolumeClaim>(builtIn.PersistentVolumeClaim);
  return claimKeys(pod).flatMap((key) => claims.get(key)?.spec?.volumeName ?? []);
}

function tell({ node, world }: NodeScene, blocking: readonly VolumeAttachment[]): void {
  const names = blocking.map(({ metadata }) => metadata.name ?? "").sort();
  const more = names.length > shownAttachments ? ` and ${names.length - shownAttachments} other(s)` : "";
  world.tell(node, {
    type: "Normal",
    reason: "AwaitingVolumeDetachment",
    message: `Awaiting deletion of bound volumeattachments (${names.slice(0, shownAttachments).join(", ")}${more})`,
    dedupe: { values: [node.metadata.uid ?? ""] },
  });
}
