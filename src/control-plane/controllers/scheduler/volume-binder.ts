import type { PersistentVolumeClaim } from "../../../api/kubernetes/cluster-objects.ts";
import type { ControllerContext } from "../../../kube/controller.ts";
import { cacheKey } from "../../../kube/object-cache.ts";
import { builtInTypes } from "../../../kube/resources.ts";
import type { Timer } from "../../../util/clock.ts";
import { isVolumeReachable, matchingVolume, selectedNode, selectedNodeAnnotation } from "../volumes/volume-matching.ts";
import type { PodProfile } from "./pod-profile.ts";
import type { SchedulerCache } from "./scheduler-cache.ts";

/** As long as kube-scheduler waits for volumes before it thinks again. */
const maxWaitMs = 10 * 60_000;

interface PendingBinding {
  readonly pod: PodProfile;
  readonly node: string;
  /** Claims whose volumes are to be made for the node. */
  readonly toProvision: ReadonlySet<string>;
  readonly timer: Timer;
  readonly finish: (outcome: "bound" | "given-up") => void;
}

/** Volumes that wait for their first consumer are chosen, or ordered, once a pod has its node. (05:CP-L9, CP-L12) */
export class VolumeBinder {
  readonly #context: ControllerContext;
  readonly #cache: SchedulerCache;
  readonly #waiting = new Map<string, PendingBinding>();

  constructor(context: ControllerContext, cache: SchedulerCache) {
    this.#context = context;
    this.#cache = cache;
  }

  /** Resolves when every claim of the pod has its volume; throws when they do not get one. */
  async bind(pod: PodProfile, node: string): Promise<void> {
    const toProvision = new Set<string>();
    for (const claim of this.#unbound(pod)) {
      if ((await this.#bindOrProvision(claim, node)) === "to-be-made") toProvision.add(cacheKey(claim.metadata));
    }
    if (this.#unbound(pod).length === 0) return;
    if ((await this.#waitUntilBound({ pod, node, toProvision })) === "given-up")
      throw new Error(`the volumes of ${pod.key} were not bound in time`);
    this.#assertReachable(pod, node);
  }

  /** Something about volumes changed. */
  recheck(): void {
    for (const { pod, node, toProvision: ordered, finish: done } of [...this.#waiting.values()]) {
      const unbound = this.#unbound(pod);
      // Whoever makes volumes takes the node's name away where it cannot be done.
      const isRefused = unbound.some((one) => ordered.has(cacheKey(one.metadata)) && selectedNode(one) !== node);
      if (unbound.length === 0) done("bound");
      else if (isRefused) done("given-up");
    }
  }

  giveUp(key: string): void {
    this.#waiting.get(key)?.finish("given-up");
  }

  stop(): void {
    for (const { finish: done } of [...this.#waiting.values()]) done("given-up");
  }

  async #bindOrProvision({ metadata, ...claim }: PersistentVolumeClaim, node: string): Promise<"found" | "to-be-made"> {
    const { client } = this.#context;
    const { name = "", namespace = "", uid = "" } = metadata;
    const facts = this.#cache.node(node)?.facts;
    const volume = facts && matchingVolume({ metadata, ...claim }, this.#cache.freeVolumes, facts);
    if (volume !== undefined) {
      const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
      const body = { spec: { claimRef } };
      await client.patch(builtInTypes.PersistentVolume, { name: volume.metadata.name ?? "" }, { kind: "merge", body });
      return "found";
    }
    if (selectedNode({ metadata }) !== node) {
      const body = { metadata: { annotations: { [selectedNodeAnnotation]: node } } };
      await client.patch(builtInTypes.PersistentVolumeClaim, { name, namespace }, { kind: "merge", body });
    }
    return "to-be-made";
  }

  #unbound({ claims }: PodProfile): readonly PersistentVolumeClaim[] {
    return claims.flatMap((key) => {
      const claim = this.#cache.volumes.claims.get(key);
      return claim === undefined || claim.status?.phase === "Bound" ? [] : [claim];
    });
  }

  #waitUntilBound(binding: Omit<PendingBinding, "timer" | "finish">): Promise<"bound" | "given-up"> {
    return new Promise((resolve) => {
      const finish = (outcome: "bound" | "given-up"): void => {
        timer.cancel();
        this.#waiting.delete(binding.pod.key);
        resolve(outcome);
      };
      const timer = this.#context.clock.setTimer(maxWaitMs, () => finish("given-up"));
      this.#waiting.set(binding.pod.key, { ...binding, timer, finish });
    });
  }

  /** Somebody may have bound the claim to a volume elsewhere meanwhile. */
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
