import { cacheKey } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { isKubeError } from "../../../kube/kube-error.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { rfc3339 } from "../../../util/timestamp.ts";
import { type ApiPod, conditionOfType } from "../api-pod-and-node.ts";
import type { PodProfile } from "./pod-profile.ts";

/** Writes to pods why they are not scheduled. */
export class SchedulingConditions {
  readonly #context: ControllerContext;
  readonly #name: string;

  constructor(context: ControllerContext, name: string) {
    this.#context = context;
    this.#name = name;
  }

  async reportUnschedulable(
    { pod }: PodProfile,
    { message, nominated }: { readonly message: string; readonly nominated?: string | undefined },
  ): Promise<void> {
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
    await this.setCondition(pod, condition, nominated);
    this.#context.recordEvent(pod, { type: "Warning", reason: "FailedScheduling", message });
  }

  async reportGated(pod: ApiPod): Promise<void> {
    const message = "Scheduling is blocked due to non-empty scheduling gates";
    await this.setCondition(pod, { type: "PodScheduled", status: "False", reason: "SchedulingGated", message });
  }

  /** Writes the condition, and the nominated node with it, unless the pod already has both. */
  async setCondition(
    pod: ApiPod,
    condition: { readonly type: string; readonly status: string; readonly reason: string; readonly message: string },
    nominated?: string | undefined,
  ): Promise<void> {
    const { clock, view } = this.#context;
    const current = view<ApiPod>(builtInTypes.Pod).get(cacheKey(pod.metadata)) ?? pod;
    const before = conditionOfType(current, condition.type);
    const isReported =
      before?.status === condition.status && before.reason === condition.reason && before.message === condition.message;
    // As the attempt saw it: a nomination that came meanwhile is not the attempt's to clear.
    const isNominated = (pod.status?.nominatedNodeName ?? "") === (nominated ?? "");
    if (isReported && isNominated) return;
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : rfc3339(clock.now());
    const conditions = [{ ...condition, lastProbeTime: null, lastTransitionTime }];
    await this.#patchStatus(pod, { conditions, ...(isNominated ? {} : { nominatedNodeName: nominated ?? null }) });
  }

  /** Writes where the pod is about to be bound, or that it no longer is: others can count on it. (05:CP-L14) */
  async nominate(pod: ApiPod, node: string | undefined): Promise<void> {
    if ((pod.status?.nominatedNodeName ?? "") === (node ?? "")) return;
    await this.#patchStatus(pod, { nominatedNodeName: node ?? null });
  }

  /** A failure is reported only: the next attempt writes it again. */
  async #patchStatus(pod: ApiPod, status: object): Promise<void> {
    const { client, reportFailure } = this.#context;
    const { name = "", namespace } = pod.metadata;
    const patch = { kind: "strategic", body: { status } } as const;
    try {
      await client.patch(builtInTypes.Pod, { name, namespace }, patch, { subresource: "status" });
    } catch (error) {
      if (!isKubeError(error, "not-found", "conflict")) {
        reportFailure({ kind: "reconcile-failed", controller: this.#name, key: cacheKey(pod.metadata), error });
      }
    }
  }
}
