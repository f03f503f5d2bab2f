import type { DaemonSet } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { namespacedName } from "../api/object.ts";
import { withLimitsAsRequests } from "../core/pod-requests.ts";
import { SortedMap } from "../util/sorted-map.ts";

/** Pods of one DaemonSet, and which of them is the newest. */
interface PodsOfDaemonSet {
  readonly pods: Map<string, Pod>;
  newest: Pod | undefined;
}

/** One pod for each DaemonSet, as its next one will be: like its newest, else one made from its template. (02:S-10, T-5) */
export class DaemonSetPods {
  readonly #sets = new SortedMap<DaemonSet>();
  /** By uid of the DaemonSet, which may not be known yet. */
  readonly #podsByDaemonSet = new Map<string, PodsOfDaemonSet>();
  #cached: readonly Pod[] | undefined;

  all(): readonly Pod[] {
    this.#cached ??= this.#sets.values().map((daemonSet) => {
      const live = this.#podsByDaemonSet.get(daemonSet.metadata.uid ?? "")?.newest;
      return live === undefined ? templatePod(daemonSet) : withTemplateAffinity(live, daemonSet);
    });
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

  /** A pod's owner may change. */
  putPod(key: string, { pod, old }: { readonly pod: Pod; readonly old: Pod | undefined }): void {
    const uid = daemonSetUidOf(pod);
    if (old !== undefined && daemonSetUidOf(old) !== uid) this.removePod(key, old);
    if (uid === undefined) return;
    const podsOfSet = this.#podsByDaemonSet.get(uid) ?? { pods: new Map(), newest: undefined };
    this.#podsByDaemonSet.set(uid, podsOfSet);
    const before = podsOfSet.pods.get(key);
    podsOfSet.pods.set(key, pod);
    if (podsOfSet.newest !== undefined && podsOfSet.newest !== before && !isNewer(pod, podsOfSet.newest)) return;
    // A recreated pod of the same name may be older than the one it replaces, whose deletion we missed.
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
}

/** API servers default requests to limits in pods, not in templates: a pod that does not exist yet needs it done. (02:A-7) */
function templatePod({ metadata, spec }: DaemonSet): Pod {
  const { name, namespace } = metadata;
  const { template } = spec;
  return { metadata: { ...template.metadata, name, namespace }, spec: withLimitsAsRequests(template.spec) };
}

/** The DaemonSet controller pins each pod to its node by affinity; the template's affinity is what counts. (02:T-5) */
function withTemplateAffinity(pod: Pod, { spec }: DaemonSet): Pod {
  const required = spec.template.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return pod;
  const { affinity } = pod.spec;
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required };
  return { ...pod, spec: { ...pod.spec, affinity: { ...affinity, nodeAffinity } } };
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

/** Of two made in the same second, the first by name. */
function isNewer(a: Pod, b: Pod): boolean {
  const [created, other] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return created > other || (created === other && namespacedName(a.metadata) < namespacedName(b.metadata));
}
