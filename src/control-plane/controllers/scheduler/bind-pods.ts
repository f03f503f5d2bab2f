import type { Pod } from "../../../api/kubernetes/pod.ts";
import { isOwnedByDaemonSet, isTerminalPod } from "../../../core/pod-predicates.ts";
import type { ClusterSnapshot } from "../../../core/round/cluster-snapshot.ts";
import type { Random } from "../../../util/random.ts";
import type { ApiNode, ApiPod } from "../api-pod-and-node.ts";
import { podFilters } from "./filters.ts";
import { type PodProfile, podProfile } from "./pod-profile.ts";
import { schedule } from "./schedule.ts";
import { SchedulerCache } from "./scheduler-cache.ts";

/** The pods that are bound to a node. */
export interface NodeBindings {
  readonly node: string;
  readonly pods: readonly Pod[];
}

export interface BindPodsOptions {
  /** Breaks ties between nodes. */
  readonly random: Random;
  /** The pods were refused before: in which order the scheduler tries them again depends on their back-off. */
  readonly areRetried: boolean;
}

/** Which of the pods the scheduler would bind now, and to which node: the most important first, then the oldest. */
export function bindPods(
  pods: readonly Pod[],
  cluster: ClusterSnapshot,
  { random, areRetried }: BindPodsOptions,
): readonly NodeBindings[] {
  const cache = cacheOf(cluster);
  const placements = new Map<string, Pod[]>();
  /** Pods of one template: what fits nowhere fits nowhere for all of them, until another pod is bound. */
  const refused = new Set<Pod["spec"]>();
  for (const pod of areRetried ? random.shuffle(pods).sort(byPriority) : [...pods].sort(byArrival)) {
    if (refused.has(pod.spec)) continue;
    const profile = podProfile(pod as ApiPod, cache.reader);
    const found = schedule(profile, cache, { random });
    if (found.kind === "unschedulable") {
      if (profile.claims.length === 0) refused.add(pod.spec);
      continue;
    }
    cache.addPod(profile, found.node);
    refused.clear();
    const bound = placements.get(found.node);
    if (bound === undefined) placements.set(found.node, [pod]);
    else bound.push(pod);
  }
  return [...placements].map(([node, bound]) => ({ node, pods: bound }));
}

function byPriority(a: Pod, b: Pod): number {
  return (b.spec.priority ?? 0) - (a.spec.priority ?? 0);
}

function byArrival(a: Pod, b: Pod): number {
  const [created, other] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return byPriority(a, b) || (created < other ? -1 : created > other ? 1 : 0);
}

function cacheOf({ nodes, boundPods, daemons, namespaces, volumes }: ClusterSnapshot): SchedulerCache {
  const cache = new SchedulerCache();
  for (const { metadata } of namespaces) cache.namespaceLabels.set(metadata.name ?? "", metadata.labels ?? {});
  for (const [key, claim] of volumes.claims) cache.putClaim(key, claim);
  for (const [name, volume] of volumes.volumes) cache.putVolume(name, volume);
  for (const [name, storageClass] of volumes.classes) cache.volumes.classes.set(name, storageClass);
  for (const { node, isBeingDeleted } of nodes)
    if (node !== undefined && !isBeingDeleted) cache.putNode(node as ApiNode);
  for (const pod of boundPods)
    if (!isTerminalPod(pod)) cache.addPod(podProfile(pod as ApiPod, cache.reader), pod.spec.nodeName ?? "");
  addDaemonPods(daemons, cache);
  return cache;
}

/** Nodes get the pods of DaemonSets before all others. */
function addDaemonPods(daemons: readonly Pod[], cache: SchedulerCache): void {
  for (const daemon of daemons) {
    const { nodeName: _, ...spec } = daemon.spec;
    const profile = podProfile({ ...daemon, spec } as ApiPod, cache.reader);
    const filters = podFilters(profile, cache);
    for (const node of cache.nodes) {
      if (hasDaemonPod(node.pods.values(), profile) || filters.test?.(node) !== undefined) continue;
      cache.addPod({ ...profile, key: `${profile.key}/${node.name}` }, node.name);
    }
  }
}

/** Pods of one DaemonSet have the labels of its template. */
function hasDaemonPod(pods: Iterable<PodProfile>, daemon: PodProfile): boolean {
  for (const { pod, labels, namespace } of pods) {
    if (!isOwnedByDaemonSet(pod) || namespace !== daemon.namespace) continue;
    if (Object.entries(daemon.labels).every(([key, value]) => labels[key] === value)) return true;
  }
  return false;
}
