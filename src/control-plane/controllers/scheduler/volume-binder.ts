import type { PersistentVolumeClaim } from "../../../api/kubernetes/cluster-objects.ts";
import { matchingVolume } from "../../../core/volume-matching.ts";
import { cacheKey } from "../../../kube/client.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { Timer } from "../../../util/clock.ts";
import { claimReference, isVolumeReachable, selectedNode, selectedNodeAnnotation } from "../volumes/volume-matching.ts";
import type { PodProfile } from "./pod-profile.ts";
import type { SchedulerCache } from "./scheduler-cache.ts";

/** kube-scheduler's bind timeout for volumes. */
const maxWaitMs = 10 * 60_000;

interface PendingBinding {
  readonly pod: PodProfile;
  readonly node: string;
  /** Claims whose volumes must be provisioned for the node. */
  readonly toProvision: ReadonlySet<string>;
  readonly timer: Timer;
  readonly finish: (outcome: "bound" | "cancelled") => void;
}

/** Binds or provisions WaitForFirstConsumer volumes once a pod has its node. (05:CP-L9, CP-L12) */
export class VolumeBinder {
  readonly #context: ControllerContext;
  readonly #cache: SchedulerCache;
  readonly #waiting = new Map<string, PendingBinding>();

  constructor(context: ControllerContext, cache: SchedulerCache) {
    this.#context = context;
    this.#cache = cache;
  }

  /** Whether the pod has to wait for volumes once it has its node. */
  hasUnboundClaims(pod: PodProfile): boolean {
    return this.#unbound(pod).length > 0;
  }

  /** Resolves once every claim of the pod is bound; throws if that fails. */
  async bind(pod: PodProfile, node: string): Promise<void> {
    const toProvision = new Set<string>();
    for (const claim of this.#unbound(pod)) {
      if ((await this.#bindOrProvision(claim, node)) === "provisioning") toProvision.add(cacheKey(claim.metadata));
    }
    if (this.#unbound(pod).length === 0) return;
    if ((await this.#waitUntilBound({ pod, node, toProvision })) === "cancelled")
      throw new Error(`the volumes of ${pod.key} were not bound in time`);
    this.#assertReachable(pod, node);
  }

  /** Rechecks pending pods after a volume or claim changed. */
  recheck(): void {
    for (const { pod, node, toProvision, finish } of [...this.#waiting.values()]) {
      const unbound = this.#unbound(pod);
      // A provisioner that cannot serve the node removes the selected-node annotation.
      const isRefused = unbound.some((one) => toProvision.has(cacheKey(one.metadata)) && selectedNode(one) !== node);
      if (unbound.length === 0) finish("bound");
      else if (isRefused) finish("cancelled");
    }
  }

  cancel(key: string): void {
    this.#waiting.get(key)?.finish("cancelled");
  }

  stop(): void {
    for (const { finish } of [...this.#waiting.values()]) finish("cancelled");
  }

  async #bindOrProvision(claim: PersistentVolumeClaim, node: string): Promise<"found" | "provisioning"> {
    const { client } = this.#context;
    const { name = "", namespace } = claim.metadata;
    const facts = this.#cache.node(node)?.facts;
    const volume = facts && matchingVolume(claim, this.#cache.freeVolumes, (one) => isVolumeReachable(one, facts));
    if (volume !== undefined) {
      const body = { spec: { claimRef: claimReference(claim) } };
      await client.patch(builtInTypes.PersistentVolume, { name: volume.metadata.name ?? "" }, { kind: "merge", body });
      return "found";
    }
    if (selectedNode(claim) !== node) {
      const body = { metadata: { annotations: { [selectedNodeAnnotation]: node } } };
      await client.patch(builtInTypes.PersistentVolumeClaim, { name, namespace }, { kind: "merge", body });
    }
    return "provisioning";
  }

  #unbound({ claims }: PodProfile): readonly PersistentVolumeClaim[] {
    return claims.flatMap((key) => {
      const claim = this.#cache.volumes.claims.get(key);
      return claim === undefined || claim.status?.phase === "Bound" ? [] : [claim];
    });
  }

  #waitUntilBound(binding: Omit<PendingBinding, "timer" | "finish">): Promise<"bound" | "cancelled"> {
    return new Promise((resolve) => {
      const finish = (outcome: "bound" | "cancelled"): void => {
        timer.cancel();
        this.#waiting.delete(binding.pod.key);
        resolve(outcome);
      };
      const timer = this.#context.clock.setTimer(maxWaitMs, () => finish("cancelled"));
      this.#waiting.set(binding.pod.key, { ...binding, timer, finish });
    });
  }

  /** The claim may have been bound elsewhere in the meantime. */
  #assertReachable({ key, claims }: PodProfile, node: string): void {
    const facts = this.#cache.node(node)?.facts;
    for (const claim of claims) {
      const volume = this.#cache.volumes.volumes.get(this.#cache.volumes.claims.get(claim)?.spec?.volumeName ?? "");
      if (volume !== undefined && facts !== undefined && !isVolumeReachable(volume, facts)) {
        throw new Error(`volume ${volume.metadata.name} of ${key} cannot be reached from ${node}`);
      }
    }
  }
}
