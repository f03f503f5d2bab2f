import { nodeClaimReasons } from "../../api/conditions/node-claim.ts";
import type { PersistentVolumeClaim } from "../../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { isDrainable } from "../../core/pod-predicates.ts";
import { volumeClaimKeys } from "../../core/volumes.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { View } from "../../kube/view.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { withClaimCondition, withClaimConditionTrue } from "../node-claim/claim-conditions.ts";
import type { NodeKubeObject } from "../node-claim/claim-lookups.ts";
import { joinedNames } from "../provisioning/log-text.ts";
import { podsOfNode } from "./pods-of-node.ts";
import type { TerminatingNode, TerminationStepResult } from "./termination-step.ts";

interface VolumeAttachment extends KubeObject {
  readonly spec: {
    readonly nodeName: string;
    readonly source?: { readonly persistentVolumeName?: string | undefined } | undefined;
  };
}

export const detachmentPollMs = 1_000;
const nodeIndex = "node";

/** For `start` of a controller that waits for volumes. */
export function indexVolumeAttachments(context: ControllerContext): void {
  volumeAttachmentView(context).addIndex(nodeIndex, ({ spec }) => spec.nodeName);
}

function volumeAttachmentView(context: ControllerContext): View<VolumeAttachment> {
  return context.view<VolumeAttachment>(builtInTypes.VolumeAttachment);
}

/** Waits until volumes are detached from the instance, so that pods can use them elsewhere. (03 §2.4) */
export async function awaitVolumeDetachment(
  { node, claim, deadlineMs }: TerminatingNode,
  context: KarpenterContext,
): Promise<TerminationStepResult> {
  const nowMs = context.clock.now();
  const blocking = blockingAttachments(node, context);
  if (blocking.length === 0) return { claim: claim && withClaimConditionTrue(claim, "VolumesDetached", nowMs) };
  if (deadlineMs !== undefined && nowMs >= deadlineMs) {
    const reason = nodeClaimReasons.terminationGracePeriodElapsed;
    const finding = { status: "False", reason, message: "", nowMs } as const;
    return { claim: claim && withClaimCondition(claim, "VolumesDetached", finding) };
  }
  recordAwaitingDetachment(node, blocking, context);
  const reason = nodeClaimReasons.awaitingVolumeDetachment;
  const finding = { status: "Unknown", reason, message: "", nowMs } as const;
  return { claim: claim && withClaimCondition(claim, "VolumesDetached", finding), afterMs: detachmentPollMs };
}

/** Volumes of pods that are not drained stay attached: the node does not wait for them. (03:T-20) */
function blockingAttachments(node: NodeKubeObject, context: KarpenterContext): readonly VolumeAttachment[] {
  const attached = volumeAttachmentView(context)
    .byIndex(nodeIndex, node.metadata.name ?? "")
    .filter(({ spec }) => spec.source?.persistentVolumeName !== undefined);
  if (attached.length === 0) return [];
  const nowMs = context.clock.now();
  const staying = podsOfNode(node, context).filter((pod) => !isDrainable(pod, nowMs));
  const undrainedVolumes = new Set(staying.flatMap((pod) => persistentVolumeNames(pod, context)));
  return attached.filter(({ spec }) => !undrainedVolumes.has(spec.source?.persistentVolumeName ?? ""));
}

function persistentVolumeNames(pod: Pod, context: ControllerContext): readonly string[] {
  const claims = context.view<KubeObject & PersistentVolumeClaim>(builtInTypes.PersistentVolumeClaim);
  return volumeClaimKeys(pod).flatMap((key) => claims.get(key)?.spec?.volumeName ?? []);
}

function recordAwaitingDetachment(
  node: NodeKubeObject,
  blocking: readonly VolumeAttachment[],
  { recordEvent }: KarpenterContext,
): void {
  const names = blocking.map(({ metadata }) => metadata.name ?? "").sort();
  recordEvent(node, {
    type: "Normal",
    reason: "AwaitingVolumeDetachment",
    message: `Awaiting deletion of bound volumeattachments (${joinedNames(names)})`,
    dedupe: { values: [node.metadata.uid ?? ""] },
  });
}
