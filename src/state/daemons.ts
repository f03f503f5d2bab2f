import type { DaemonSet } from "../api/kubernetes/cluster.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { namespacedName } from "../api/object.ts";
import { daemonPods } from "../core/scenario/daemons.ts";
import { SortedMap } from "../util/sorted-map.ts";

/** Pods of one DaemonSet, and which of them is the newest. */
interface Crew {
  readonly pods: Map<string, Pod>;
  newest: Pod | undefined;
}

/** One pod for each DaemonSet: what its next one will look like. (02:S-10) */
export class Daemons {
  readonly #sets = new SortedMap<DaemonSet>();
  /** By uid of the DaemonSet, which may not be here yet. */
  readonly #crews = new Map<string, Crew>();
  #seen: readonly Pod[] | undefined;

  all(): readonly Pod[] {
    this.#seen ??= daemonPods(this.#sets.values(), this.#newest());
    return this.#seen;
  }

  putSet(daemonSet: DaemonSet): void {
    this.#sets.set(namespacedName(daemonSet.metadata), daemonSet);
    this.#seen = undefined;
  }

  removeSet(key: string): void {
    this.#sets.delete(key);
    this.#seen = undefined;
  }

  /** A pod may be adopted, or let go. */
  putPod(key: string, { pod, old }: { readonly pod: Pod; readonly old: Pod | undefined }): void {
    const uid = crewOf(pod);
    if (old !== undefined && crewOf(old) !== uid) this.removePod(key, old);
    if (uid === undefined) return;
    const crew = this.#crews.get(uid) ?? { pods: new Map(), newest: undefined };
    this.#crews.set(uid, crew);
    const before = crew.pods.get(key);
    crew.pods.set(key, pod);
    if (crew.newest !== undefined && crew.newest !== before && !isNewer(pod, crew.newest)) return;
    // Another pod of the same name may be older than the one it replaces, though nobody told that that is gone.
    crew.newest = before !== undefined && isNewer(before, pod) ? newestOf(crew) : pod;
    this.#seen = undefined;
  }

  removePod(key: string, pod: Pod): void {
    const uid = crewOf(pod) ?? "";
    const crew = this.#crews.get(uid);
    const old = crew?.pods.get(key);
    if (crew === undefined || old === undefined) return;
    crew.pods.delete(key);
    if (crew.pods.size === 0) this.#crews.delete(uid);
    if (crew.newest === old) {
      crew.newest = newestOf(crew);
      this.#seen = undefined;
    }
  }

  #newest(): readonly Pod[] {
    return [...this.#crews.values()].flatMap(({ newest }) => newest ?? []);
  }
}

function crewOf({ metadata }: Pod): string | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  return controller?.kind === "DaemonSet" ? controller.uid : undefined;
}

function newestOf({ pods }: Crew): Pod | undefined {
  let newest: Pod | undefined;
  for (const pod of pods.values()) if (newest === undefined || isNewer(pod, newest)) newest = pod;
  return newest;
}

/** Of the same second, the first by name. */
function isNewer(a: Pod, b: Pod): boolean {
  const [created, other] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return created > other || (created === other && namespacedName(a.metadata) < namespacedName(b.metadata));
}
