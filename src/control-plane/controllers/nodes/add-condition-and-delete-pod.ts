import { isTerminalPod } from "../../../core/pod-predicates.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { deleteIfExists } from "../workloads/ownership.ts";

export interface PodDeletion {
  /** Reason of the pod's DisruptionTarget condition. */
  readonly reason: string;
  readonly message: string;
  /** Without grace period and as Failed: there is no kubelet to stop it. */
  readonly isForced?: boolean;
}

/** Sets DisruptionTarget and deletes the pod. Safe to repeat. */
export async function addConditionAndDeletePod(
  pod: ApiPod,
  { reason, message, isForced = false }: PodDeletion,
  context: ControllerContext,
): Promise<void> {
  const { client, clock } = context;
  const { name = "", namespace, uid } = pod.metadata;
  const condition = { type: "DisruptionTarget", status: "True", reason, message, lastProbeTime: null };
  const conditions = [{ ...condition, lastTransitionTime: rfc3339(clock.now()) }];
  const phase = isForced && !isTerminalPod(pod) ? { phase: "Failed" } : {};
  const patch = { kind: "strategic", body: { metadata: { uid }, status: { ...phase, conditions } } } as const;
  const updated = client.patch(builtInTypes.Pod, { name, namespace }, patch, { subresource: "status" });
  if ((await ignoreKubeErrors(updated, "not-found")) === undefined) return;
  await deleteIfExists(context, builtInTypes.Pod, pod, isForced ? { gracePeriodSeconds: 0 } : {});
}
