import type { DaemonSet } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { namespacedName } from "../api/object.ts";
import { daemonPods } from "../core/scenario/daemon-pods.ts";
import { SortedMap } from "../util/sorted-map.ts";

/** Pods of one DaemonSet, and which of them is the newest. */
interface PodsOfDaemonSet {
  readonly pods: Map<string, Pod>;
  newest: Pod | undefined;
}

/** One pod for each DaemonSet: what its next one will look like. (02:S-10) */
export class DaemonSetPods {
  readonly #sets = new SortedMap<DaemonSet>();
  /** By uid of the DaemonSet, which may not be here yet. */
  readonly #podsByDaemonSet = new Map<string, PodsOfDaemonSet>();
  #cached: readonly Pod[] | undefined;

  all(): readonly Pod[] {
    this.#cached ??= daemonPods(this.#sets.values(), this.#newestPods());
    return this.#cached;
  }

  putSet(daemonSet: DaemonSet): void {
    this.#sets.set(namespacedName(daemonSet.metadata), daemonSet);
    this.#cached = undefined;
  }

  removeSet(key: string): void {
    this.#sets.delete(key);
    this.#cached = undefined;
  }

  /** A pod may be adopted, or let go. */
  putPod(key: string, { pod, old }: { readonly pod: Pod; readonly old: Pod | undefined }): void {
    const uid = daemonSetUidOf(pod);
    if (old !== undefined && daemonSetUidOf(old) !== uid) this.removePod(key, old);
    if (uid === undefined) return;
    const podsOfSet = this.#podsByDaemonSet.get(uid) ?? { pods: new Map(), newest: undefined };
    this.#podsByDaemonSet.set(uid, podsOfSet);
    const before = podsOfSet.pods.get(key);
    podsOfSet.pods.set(key, pod);
    if (podsOfSet.newest !== undefined && podsOfSet.newest !== before && !isNewer(pod, podsOfSet.newest)) return;
    // Another pod of the same name may be older than the one it replaces, though nobody told that that is gone.
    podsOfSet.newest = before !== undefined && isNewer(before, pod) ? newestOf(podsOfSet) : pod;
    this.#cached = undefined;
  }

  removePod(key: string, pod: Pod): void {
    const uid = daemonSetUidOf(pod) ?? "";
    const podsOfSet = this.#podsByDaemonSet.get(uid);
    const old = podsOfSet?.pods.get(key);
    if (podsOfSet === undefined || old === undefined) return;
    podsOfSet.pods.delete(key);
    if (podsOfSet.pods.size === 0) this.#podsByDaemonSet.delete(uid);
    if (podsOfSet.newest === old) {
      podsOfSet.newest = newestOf(podsOfSet);
      this.#cached = undefined;
    }
  }

  #newestPods(): readonly Pod[] {
    return [...this.#podsByDaemonSet.values()].flatMap(({ newest }) => newest ?? []);
  }
}

function daemonSetUidOf({ metadata }: Pod): string | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  return controller?.kind === "DaemonSet" ? controller.uid : undefined;
}

function newestOf({ pods }: PodsOfDaemonSet): Pod | undefined {
  let newest: Pod | undefined;
  for (const pod of pods.values()) if (newest === undefined || isNewer(pod, newest)) newest = pod;
  return newest;
}

/** Of the same second, the first by name. */
function isNewer(a: Pod, b: Pod): boolean {
  const [created, other] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return created > other || (created === other && namespacedName(a.metadata) < namespacedName(b.metadata));
}
