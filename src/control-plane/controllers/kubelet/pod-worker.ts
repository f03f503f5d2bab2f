import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { SimulatedInstance } from "../../../cloud/instance-source.ts";
import { volumeClaimKeys } from "../../../core/volumes.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { ignoreKubeErrors } from "../../../kube/kube-error.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import { listAt, textAt } from "../../object-fields.ts";
import type { ApiPod } from "../api-pod-and-node.ts";
import { isAttached } from "../volumes/volume-attachments.ts";
import { deleteIfExists, namespacedNameOf } from "../workloads/ownership.ts";
import { nodeAddress } from "./node-registration.ts";
import { PodAddresses } from "./pod-addresses.ts";
import { type PodDelays, podBehaviour } from "./pod-behaviour.ts";
import { type ContainerEvent, nextPodStep, type PodStep } from "./pod-lifecycle.ts";

/** Moves the pods of all nodes through their lifecycle, as each node's kubelet would. */
export class PodWorker {
  readonly addresses = new PodAddresses();
  readonly #context: ControllerContext;
  readonly #delays: PodDelays;

  constructor(context: ControllerContext, delays: PodDelays) {
    this.#context = context;
    this.#delays = delays;
  }

  async sync(pod: ApiPod, instance: SimulatedInstance): Promise<RequeueAfter | undefined> {
    const step = this.#stepFor(pod, instance);
    if (step.kind === "wait") return { afterMs: step.afterMs };
    if (step.kind === "remove") await deleteIfExists(this.#context, builtInTypes.Pod, pod, { gracePeriodSeconds: 0 });
    if (step.kind === "write") await this.#writeStatus(pod, step);
    return undefined;
  }

  #stepFor(pod: ApiPod, { nodeName, kubelet }: SimulatedInstance): PodStep {
    const { clock, random } = this.#context;
    const hostIP = nodeAddress(nodeName);
    return nextPodStep(pod, {
      now: clock.now(),
      behaviour: podBehaviour(pod, { delays: this.#delays, random: random.fork("pods"), isSlow: kubelet === "slow" }),
      hostIP,
      podIP: () => (pod.spec.hostNetwork === true ? hostIP : this.addresses.allocate(pod)),
      hasVolumes: this.#hasVolumes(pod),
    });
  }

  async #writeStatus(pod: ApiPod, { status, event }: PodStep & { kind: "write" }): Promise<void> {
    const patch = { kind: "strategic", body: { metadata: { uid: pod.metadata.uid }, status } } as const;
    const written = this.#context.client.patch(builtInTypes.Pod, namespacedNameOf(pod), patch, {
      subresource: "status",
    });
    const found = await ignoreKubeErrors(written, "not-found");
    if (found !== undefined && event !== undefined) this.#recordEvents(pod, event);
  }

  #recordEvents(pod: ApiPod, event: ContainerEvent): void {
    for (const container of listAt(pod.spec, "containers")) {
      const name = textAt(container, "name");
      this.#context.recordEvent(
        pod,
        event === "started"
          ? { type: "Normal", reason: "Started", message: `Started container ${name}` }
          : { type: "Warning", reason: "BackOff", message: `Back-off restarting failed container ${name}` },
      );
    }
  }

  #hasVolumes(pod: ApiPod): boolean {
    const { view } = this.#context;
    return volumeClaimKeys(pod).every((key) => {
      const claim = view<KubeObject & PersistentVolumeClaim>(builtInTypes.PersistentVolumeClaim).get(key);
      if (claim?.status?.phase !== "Bound") return false;
      const name = claim.spec?.volumeName ?? "";
      const volume = view<KubeObject & PersistentVolume>(builtInTypes.PersistentVolume).get(name);
      return volume !== undefined && isAttached(volume, pod.spec.nodeName ?? "", view);
    });
  }
}
