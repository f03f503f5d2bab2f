import type { PersistentVolume } from "../../../api/kubernetes/cluster-objects.ts";
import type { LabelSet } from "../../../core/label-selector.ts";
import type { VolumeIndex } from "../../../core/volumes.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodProfile } from "./pod-profile.ts";

/** The cluster as one scheduling decision sees it. */
export interface SchedulerSnapshot {
  /** Sorted by name. */
  readonly nodes: readonly NodeInfo[];
  readonly namespaceLabels: ReadonlyMap<string, LabelSet>;
  readonly volumes: VolumeIndex;
  /** Volumes that claims may be bound to, sorted by name. */
  readonly freeVolumes: readonly PersistentVolume[];
  /** How many volumes a node can attach, by node and driver. */
  readonly volumeLimits: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Pods nominated to a node, by preemption or from outside. */
  readonly nominated: ReadonlyMap<string, readonly PodProfile[]>;
  /** Whether any placed pod has required anti-affinity; lets most clusters skip the check. */
  readonly hasAntiAffinity: boolean;
  /** Whether any placed pod has preferred or required pod affinity. */
  readonly hasPodPreferences: boolean;
}

/** The snapshot with one node replaced. Field by field: a spread would leave out what a snapshot computes when asked. */
export function withChangedNode(snapshot: SchedulerSnapshot, changed: NodeInfo): SchedulerSnapshot {
  const { namespaceLabels, volumes, freeVolumes, volumeLimits, nominated, hasPodPreferences } = snapshot;
  const nodes = snapshot.nodes.map((node) => (node.name === changed.name ? changed : node));
  const hasAntiAffinity = snapshot.hasAntiAffinity || [...changed.pods.values()].some(hasAntiAffinityTerms);
  return {
    nodes,
    namespaceLabels,
    volumes,
    freeVolumes,
    volumeLimits,
    nominated,
    hasAntiAffinity,
    hasPodPreferences,
  };
}

export function hasAntiAffinityTerms({ antiAffinity }: PodProfile): boolean {
  return antiAffinity.length > 0;
}

export function hasPodAffinityTerms({ preferredPods, affinity }: PodProfile): boolean {
  return preferredPods.length > 0 || affinity.length > 0;
}
