import type { KubeObject } from "../api/object.ts";
import type { ControllerContext } from "../kube/controller.ts";
import { ClusterState, type ClusterStateOptions } from "./cluster-state.ts";
import { stateResourceTypes } from "./cluster-state-controller.ts";
import type { KindTypes } from "./objects-by-kind.ts";
import { type StateKind, stateKinds, stateUpdates } from "./state-kinds.ts";

/** Cluster state of its own with what the views have now: it may change without anyone else noticing. */
export function copyOfViews({ view }: Pick<ControllerContext, "view">, options: ClusterStateOptions): ClusterState {
  const cluster = new ClusterState(options);
  const updates = stateUpdates(cluster);
  const feed = <K extends StateKind>(kind: K): void => {
    for (const object of view<KubeObject & KindTypes[K]>(stateResourceTypes[kind]).all()) updates[kind].changed(object);
  };
  for (const kind of stateKinds) feed(kind);
  return cluster;
}
