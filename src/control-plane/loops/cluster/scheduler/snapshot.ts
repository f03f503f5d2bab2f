import type { PersistentVolume } from "../../../../api/kubernetes/cluster.ts";
import type { Labels } from "../../../../core/label-selector.ts";
import type { VolumeIndex } from "../../../../core/scheduling/problem.ts";
import type { NodeView } from "./node-view.ts";
import type { PodProfile } from "./profile.ts";

/** The cluster as one scheduling decision sees it. */
export interface Snapshot {
  /** By name. */
  readonly nodes: readonly NodeView[];
  readonly namespaceLabels: ReadonlyMap<string, Labels>;
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
export function withNode(snapshot: Snapshot, changed: NodeView): Snapshot {
  const nodes = snapshot.nodes.map((node) => (node.name === changed.name ? changed : node));
  const pods = [...changed.pods.values()];
  return {
    ...snapshot,
    nodes,
    hasAntiAffinity: snapshot.hasAntiAffinity || pods.some(keepsAway),
  };
}

export function keepsAway({ antiAffinity }: PodProfile): boolean {
  return antiAffinity.length > 0;
}

export function prefersPods({ preferredPods, affinity }: PodProfile): boolean {
  return preferredPods.length > 0 || affinity.length > 0;
}
