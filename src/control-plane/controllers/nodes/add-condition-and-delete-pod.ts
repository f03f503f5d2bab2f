import type { ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { ApiPod } from "../api-pod-and-node.ts";

export interface PodDeletion {
  /** Why, as the pod's `DisruptionTarget` condition tells. */
  readonly reason: string;
  readonly message: string;
  /** Without asking its kubelet, and as failed: where there is none to ask. */
  readonly isForced?: boolean;
}

/** Deletes a pod that somebody else than its owner wants gone, and says so first. Harmless to repeat. */
export async function addConditionAndDeletePod(
  pod: ApiPod,
  { reason, message, isForced = false }: PodDeletion,
  { client, clock }: Pick<ControllerContext, "client" | "clock">,
): Promise<void> {
  const { name = "", namespace, uid } = pod.metadata;
  const condition = { type: "DisruptionTarget", status: "True", reason, message, lastProbeTime: null };
  const conditions = [{ ...condition, lastTransitionTime: rfc3339(clock.now()) }];
  const isOver = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  const phase = isForced && !isOver ? { phase: "Failed" } : {};
  const patch = { kind: "strategic", body: { metadata: { uid }, status: { ...phase, conditions } } } as const;
  try {
    await client.patch(builtInTypes.Pod, { name, namespace }, patch, { subresource: "status" });
    await client.delete(
      builtInTypes.Pod,
      { name, namespace },
      {
        ...(isForced ? { gracePeriodSeconds: 0 } : {}),
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      },
    );
  } catch (error) {
    // Gone: that was the goal. A conflict is tried again: the view then knows whether it was another pod by now.
    if (!isKubeError(error, "not-found")) throw error;
  }
}
