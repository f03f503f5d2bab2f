import type { PersistentVolumeClaim } from "../../../../api/kubernetes/cluster.ts";
import type { LoopWorld } from "../../../../kube/loop.ts";
import { cacheKey } from "../../../../kube/object-cache.ts";
import { builtIn } from "../../../../kube/resources.ts";
import type { Timer } from "../../../../util/clock.ts";
import { isReachable, matchingVolume, selectedNode, selectedNodeAnnotation } from "../volumes/claims.ts";
import type { SchedulerCache } from "./cache.ts";
import type { PodProfile } from "./profile.ts";

/** As long as kube-scheduler waits for volumes before it thinks again. */
const maxWaitMs = 10 * 60_000;

interface Waiting {
  readonly pod: PodProfile;
  readonly node: string;
  /** Claims whose volumes are to be made for the node. */
  readonly ordered: ReadonlySet<string>;
  readonly timer: Timer;
  readonly done: (outcome: "bound" | "given-up") => void;
}

/** Volumes that wait for their first consumer are chosen, or ordered, once a pod has its node. (05:CP-L9, CP-L12) */
export class ClaimBinding {
  readonly #world: LoopWorld;
  readonly #cache: SchedulerCache;
  readonly #waiting = new Map<string, Waiting>();

  constructor(world: LoopWorld, cache: SchedulerCache) {
    this.#world = world;
    this.#cache = cache;
  }

  /** Resolves when every claim of the pod has its volume; throws when they do not get one. */
  async bind(pod: PodProfile, node: string): Promise<void> {
    const ordered = new Set<string>();
    for (const claim of this.#unbound(pod)) {
      if ((await this.#order(claim, node)) === "to-be-made") ordered.add(cacheKey(claim.metadata));
    }
    if (this.#unbound(pod).length === 0) return;
    if ((await this.#untilBound({ pod, node, ordered })) === "given-up")
      throw new Error(`the volumes of ${pod.key} were not bound in time`);
    this.#assertReachable(pod, node);
  }

  /** Something about volumes changed. */
  look(): void {
    for (const { pod, node, ordered, done } of [...this.#waiting.values()]) {
      const unbound = this.#unbound(pod);
      // Whoever makes volumes takes the node's name away where it cannot be done.
      const isRefused = unbound.some((one) => ordered.has(cacheKey(one.metadata)) && selectedNode(one) !== node);
      if (unbound.length === 0) done("bound");
      else if (isRefused) done("given-up");
    }
  }

  giveUp(key: string): void {
    this.#waiting.get(key)?.done("given-up");
  }

  stop(): void {
    for (const { done } of [...this.#waiting.values()]) done("given-up");
  }

  async #order({ metadata, ...claim }: PersistentVolumeClaim, node: string): Promise<"found" | "to-be-made"> {
    const { client } = this.#world;
    const { name = "", namespace = "", uid = "" } = metadata;
    const facts = this.#cache.node(node)?.facts;
    const volume = facts && matchingVolume({ metadata, ...claim }, this.#cache.freeVolumes, facts);
    if (volume !== undefined) {
      const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
      const body = { spec: { claimRef } };
      await client.patch(builtIn.PersistentVolume, { name: volume.metadata.name ?? "" }, { kind: "merge", body });
      return "found";
    }
    if (selectedNode({ metadata }) !== node) {
      const body = { metadata: { annotations: { [selectedNodeAnnotation]: node } } };
      await client.patch(builtIn.PersistentVolumeClaim, { name, namespace }, { kind: "merge", body });
    }
    return "to-be-made";
  }

  #unbound({ claims }: PodProfile): readonly PersistentVolumeClaim[] {
    return claims.flatMap((key) => {
      const claim = this.#cache.volumes.claims.get(key);
      return claim === undefined || claim.status?.phase === "Bound" ? [] : [claim];
    });
  }

  #untilBound(order: Omit<Waiting, "timer" | "done">): Promise<"bound" | "given-up"> {
    return new Promise((resolve) => {
      const done = (outcome: "bound" | "given-up"): void => {
        timer.cancel();
        this.#waiting.delete(order.pod.key);
        resolve(outcome);
      };
      const timer = this.#world.clock.setTimer(maxWaitMs, () => done("given-up"));
      this.#waiting.set(order.pod.key, { ...order, timer, done });
    });
  }

  /** Somebody may have bound the claim to a volume elsewhere meanwhile. */
  #assertReachable({ key, claims }: PodProfile, node: string): void {
    const facts = this.#cache.node(node)?.facts;
    for (const claim of claims) {
      const volume = this.#cache.volumes.volumes.get(this.#cache.volumes.claims.get(claim)?.spec?.volumeName ?? "");
      if (volume !== undefined && facts !== undefined && !isReachable(volume, facts)) {
        throw new Error(`volume ${volume.metadata.name} of ${key} cannot be reached from ${node}`);
      }
    }
  }
}
