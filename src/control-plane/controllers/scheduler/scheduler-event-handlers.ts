import type {
  CsiNode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../../api/kubernetes/cluster-objects.ts";
import type { KubeObject } from "../../../api/object.ts";
import { isTerminalPod, isTerminatingPod } from "../../../core/pod-predicates.ts";
import { cacheKey } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { ObjectChange } from "../../../kube/view.ts";
import type { ApiNode, ApiPod } from "../api-pod-and-node.ts";
import { isProfileCurrent, type PodProfile, podProfile } from "./pod-profile.ts";
import type { SchedulerCache } from "./scheduler-cache.ts";
import type { SchedulingQueue } from "./scheduling-queue.ts";
import type { VolumeBinder } from "./volume-binder.ts";

export const defaultSchedulerName = "default-scheduler";

export interface SchedulerEventHandlerOptions {
  readonly name: string;
  readonly cache: SchedulerCache;
  readonly queue: SchedulingQueue;
  readonly volumeBinder: VolumeBinder;
  /** Called for pods with scheduling gates. */
  readonly onGated: (pod: ApiPod) => void;
}

/** Keeps the scheduler's cache and queue in step with the cluster. */
export class SchedulerEventHandlers {
  readonly #name: string;
  readonly #cache: SchedulerCache;
  readonly #queue: SchedulingQueue;
  readonly #volumeBinder: VolumeBinder;
  readonly #onGated: (pod: ApiPod) => void;

  constructor({ name, cache, queue, volumeBinder, onGated }: SchedulerEventHandlerOptions) {
    this.#name = name;
    this.#cache = cache;
    this.#queue = queue;
    this.#volumeBinder = volumeBinder;
    this.#onGated = onGated;
  }

  /** Returns the functions that unsubscribe. */
  subscribe({ view }: ControllerContext): readonly (() => void)[] {
    const cache = this.#cache;
    const volumesChanged = (): void => {
      this.#volumeBinder.recheck();
      this.#queue.onClusterEvent("volume");
    };
    return [
      view(builtInTypes.Namespace).subscribe(({ object, old }) => {
        const { name = "" } = (object ?? old).metadata;
        if (object === undefined) cache.namespaceLabels.delete(name);
        else cache.namespaceLabels.set(name, object.metadata.labels ?? {});
        this.#queue.onClusterEvent("namespace");
      }),
      view<KubeObject & StorageClass>(builtInTypes.StorageClass).subscribe(({ object, old }) => {
        const { name = "" } = (object ?? old).metadata;
        if (object === undefined) cache.volumes.classes.delete(name);
        else cache.volumes.classes.set(name, object);
        volumesChanged();
      }),
      view<KubeObject & PersistentVolume>(builtInTypes.PersistentVolume).subscribe(({ object, old }) => {
        cache.putVolume((object ?? old).metadata.name ?? "", object);
        volumesChanged();
      }),
      view<KubeObject & PersistentVolumeClaim>(builtInTypes.PersistentVolumeClaim).subscribe(({ object, old }) => {
        cache.putClaim(cacheKey((object ?? old).metadata), object);
        volumesChanged();
      }),
      view<KubeObject & CsiNode>(builtInTypes.CSINode).subscribe(({ object, old }) => {
        cache.putVolumeLimits((object ?? old).metadata.name ?? "", object);
        this.#queue.onClusterEvent("volume");
      }),
      view<ApiNode>(builtInTypes.Node).subscribe((change) => this.#nodeChanged(change)),
      view<ApiPod>(builtInTypes.Pod).subscribe((change) => this.#podChanged(change)),
    ];
  }

  #nodeChanged({ object, old }: ObjectChange<ApiNode>): void {
    if (object === undefined) this.#cache.removeNode(old.metadata.name ?? "");
    else if (this.#cache.putNode(object)) this.#queue.onClusterEvent("node");
  }

  #podChanged({ object, old }: ObjectChange<ApiPod>): void {
    const key = cacheKey((object ?? old).metadata);
    if (object === undefined) this.#forgetPod(key);
    else if ((object.spec.nodeName ?? "") !== "") this.#podAssigned(key, object);
    else this.#podPending(key, object);
  }

  #forgetPod(key: string): void {
    this.#queue.remove(key);
    this.#cache.removeNomination(key);
    this.#volumeBinder.cancel(key);
    if (this.#cache.removePod(key)) this.#queue.onClusterEvent("pod-removed");
  }

  #podAssigned(key: string, pod: ApiPod): void {
    this.#queue.remove(key);
    this.#cache.removeNomination(key);
    if (isTerminalPod(pod)) {
      if (this.#cache.removePod(key)) this.#queue.onClusterEvent("pod-removed");
      return;
    }
    const known = this.#cache.pod(key);
    const hasChanged = known === undefined || !isProfileCurrent(known, pod);
    const isSeen = known !== undefined && !hasChanged && !this.#cache.isAssumed(key);
    if (isSeen && known.pod.status?.startTime === pod.status?.startTime) return;
    this.#cache.addPod(hasChanged ? this.#profile(pod) : { ...known, pod }, pod.spec.nodeName ?? "");
    if (!isSeen) this.#queue.onClusterEvent("pod-placed");
  }

  #podPending(key: string, pod: ApiPod): void {
    const isOurs = (pod.spec.schedulerName ?? defaultSchedulerName) === this.#name;
    if (!isOurs || isTerminatingPod(pod) || isTerminalPod(pod)) {
      this.#forgetPod(key);
      return;
    }
    if ((pod.spec.schedulingGates ?? []).length > 0) {
      this.#queue.remove(key);
      this.#onGated(pod);
      return;
    }
    if (this.#cache.isAssumed(key)) return;
    const known = this.#queue.get(key);
    if (known !== undefined && isProfileCurrent(known, pod)) {
      const profile = { ...known, pod };
      this.#queue.update(profile);
      this.#followNomination(profile, known);
      return;
    }
    const profile = this.#profile(pod);
    this.#followNomination(profile, known);
    this.#queue.add(profile);
  }

  /**
   * Keeps room for the pod on the node its status names. Without a name before and after, a nomination of our own may be
   * on its way to the API server, and stays. Room that is given up may help other pods.
   */
  #followNomination(profile: PodProfile, known: PodProfile | undefined): void {
    const before = known?.pod.status?.nominatedNodeName ?? "";
    const now = profile.pod.status?.nominatedNodeName ?? "";
    if (now !== "") this.#cache.nominate(profile, now);
    else if (before !== "") this.#cache.removeNomination(profile.key);
    if (before !== "" && before !== now) this.#queue.onClusterEvent("pod-removed");
  }

  #profile(pod: ApiPod): PodProfile {
    return podProfile(pod, this.#cache.reader);
  }
}
