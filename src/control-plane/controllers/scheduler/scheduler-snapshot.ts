import type { PersistentVolume } from "../../../api/kubernetes/cluster-objects.ts";
import type { LabelSet } from "../../../core/label-selector.ts";
import type { VolumeIndex } from "../../../core/scheduling/problem.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodProfile } from "./pod-profile.ts";

/** The cluster as one scheduling decision sees it. */
export interface SchedulerSnapshot {
  /** By name. */
  readonly nodes: readonly NodeInfo[];
  readonly namespaceLabels: ReadonlyMap<string, LabelSet>;
  readonly volumes: VolumeIndex;
  /** Volumes by name, for claims that may take one that is there. */
  readonly freeVolumes: readonly PersistentVolume[];
  /** How many volumes of a driver a node can attach. */
  readonly volumeLimits: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Pods that were promised room on a node by preemption. */
  readonly nominated: ReadonlyMap<string, readonly PodProfile[]>;
  /** Whether any placed pod keeps others away; most clusters have a few at most. */
  readonly hasAntiAffinity: boolean;
  /** Whether any placed pod has wishes about, or binds itself to, its neighbours. */
  readonly hasPodPreferences: boolean;
}

/** The same cluster with one node as it would be. */
export function withChangedNode(snapshot: SchedulerSnapshot, changed: NodeInfo): SchedulerSnapshot {
  const nodes = snapshot.nodes.map((node) => (node.name === changed.name ? changed : node));
  const pods = [...changed.pods.values()];
  return {
    ...snapshot,
    nodes,
    hasAntiAffinity: snapshot.hasAntiAffinity || pods.some(hasAntiAffinityTerms),
  };
}

export function hasAntiAffinityTerms({ antiAffinity }: PodProfile): boolean {
  return antiAffinity.length > 0;
}

export function hasPodAffinityTerms({ preferredPods, affinity }: PodProfile): boolean {
  return preferredPods.length > 0 || affinity.length > 0;
}
