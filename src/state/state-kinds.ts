import type { ClusterState } from "./cluster-state.ts";
import type { KindTypes } from "./objects-by-kind.ts";

/** Kinds cluster state is fed with, in this order: volumes come before the pods that use them, so pods are looked at once. */
export const stateKinds = [
  "Namespace",
  "StorageClass",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "CSINode",
  "NodePool",
  "NodeClaim",
  "Node",
  "DaemonSet",
  "Pod",
] as const satisfies readonly (keyof KindTypes)[];
export type StateKind = (typeof stateKinds)[number];

/** How cluster state learns of the objects of a kind. */
export interface StateUpdate<T> {
  changed(object: T): void;
  gone(object: T): void;
}

export function stateUpdates(cluster: ClusterState): { readonly [K in StateKind]: StateUpdate<KindTypes[K]> } {
  return {
    Namespace: { changed: (one) => cluster.namespaceChanged(one), gone: (one) => cluster.namespaceGone(one) },
    StorageClass: { changed: (one) => cluster.storageClassChanged(one), gone: (one) => cluster.storageClassGone(one) },
    PersistentVolume: { changed: (one) => cluster.volumeChanged(one), gone: (one) => cluster.volumeGone(one) },
    PersistentVolumeClaim: {
      changed: (one) => cluster.volumeClaimChanged(one),
      gone: (one) => cluster.volumeClaimGone(one),
    },
    CSINode: { changed: (one) => cluster.csiNodeChanged(one), gone: (one) => cluster.csiNodeGone(one) },
    NodePool: { changed: (one) => cluster.poolChanged(one), gone: (one) => cluster.poolGone(one) },
    NodeClaim: { changed: (one) => cluster.claimChanged(one), gone: (one) => cluster.claimGone(one) },
    Node: { changed: (one) => cluster.nodeChanged(one), gone: (one) => cluster.nodeGone(one) },
    DaemonSet: { changed: (one) => cluster.daemonSetChanged(one), gone: (one) => cluster.daemonSetGone(one) },
    Pod: { changed: (one) => cluster.podChanged(one), gone: (one) => cluster.podGone(one) },
  };
}
