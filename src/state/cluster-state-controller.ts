import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type {
  CsiNode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { KubeObject, ObjectMeta } from "../api/object.ts";
import type { ResourceType } from "../kube/client.ts";
import type { Controller } from "../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../kube/resources.ts";
import type { ObjectChange, View } from "../kube/view.ts";
import { whenAborted } from "../util/abort.ts";
import type { ClusterState } from "./cluster-state.ts";

interface StateSource {
  readonly type: ResourceType;
  readonly changed: (object: KubeObject) => void;
  readonly gone: (object: KubeObject) => void;
}

/**
 * Tells cluster state everything the views hear of, in the same turn: whoever is woken by a change finds the state
 * already changed. It begins when all kinds are here; where our CRDs are not installed it waits for them. (02:S-13)
 */
export function clusterStateController(cluster: ClusterState): Controller {
  const sources = stateSources(cluster);
  return {
    name: "state",
    kinds: sources.map(({ type }) => type),
    run: async (context, signal) => {
      const stops: (() => void)[] = [];
      for (const source of sources) {
        const initialList = subscribeToSource(context.view(source.type), { source, stops });
        if (initialList !== undefined) await initialList;
      }
      for (const _ of cluster.refreshStale()) {
        const rest = context.pause();
        if (rest !== undefined) await rest;
      }
      if (!signal.aborted) cluster.markInitialListComplete();
      await whenAborted(signal);
      for (const stop of stops) stop();
    },
  };
}

interface SourceSubscription {
  readonly source: StateSource;
  readonly stops: (() => void)[];
}

/** Resolves when all that is there has been told; undefined where it has been told at once. */
function subscribeToSource(view: View<KubeObject>, { source, stops }: SourceSubscription): Promise<void> | undefined {
  let isListed = false;
  const initialList = new Promise<void>((resolve) => {
    const onChange = ({ object, old }: ObjectChange<KubeObject>): void => {
      if (object !== undefined) source.changed(object);
      else if (old !== undefined) source.gone(old);
    };
    const onListed = (): void => {
      isListed = true;
      resolve();
    };
    stops.push(view.subscribe(onChange, onListed));
  });
  return isListed ? undefined : initialList;
}

/** Volumes before the pods that use them, so that the first look is the only one. */
function stateSources(cluster: ClusterState): readonly StateSource[] {
  return [
    stateSource<Namespace>(
      builtInTypes.Namespace,
      (one) => cluster.namespaceChanged(one),
      (one) => cluster.namespaceGone(one),
    ),
    stateSource<StorageClass>(
      builtInTypes.StorageClass,
      (one) => cluster.storageClassChanged(one),
      (one) => cluster.storageClassGone(one),
    ),
    stateSource<PersistentVolume>(
      builtInTypes.PersistentVolume,
      (one) => cluster.volumeChanged(one),
      (one) => cluster.volumeGone(one),
    ),
    stateSource<PersistentVolumeClaim>(
      builtInTypes.PersistentVolumeClaim,
      (one) => cluster.volumeClaimChanged(one),
      (one) => cluster.volumeClaimGone(one),
    ),
    stateSource<CsiNode>(
      builtInTypes.CSINode,
      (one) => cluster.csiNodeChanged(one),
      (one) => cluster.csiNodeGone(one),
    ),
    stateSource<NodePool>(
      karpenterTypes.NodePool,
      (one) => cluster.poolChanged(one),
      (one) => cluster.poolGone(one),
    ),
    stateSource<NodeClaim>(
      karpenterTypes.NodeClaim,
      (one) => cluster.claimChanged(one),
      (one) => cluster.claimGone(one),
    ),
    stateSource<Node>(
      builtInTypes.Node,
      (one) => cluster.nodeChanged(one),
      (one) => cluster.nodeGone(one),
    ),
    stateSource<DaemonSet>(
      builtInTypes.DaemonSet,
      (one) => cluster.daemonSetChanged(one),
      (one) => cluster.daemonSetGone(one),
    ),
    stateSource<Pod>(
      builtInTypes.Pod,
      (one) => cluster.podChanged(one),
      (one) => cluster.podGone(one),
    ),
  ];
}

/** Views hold what the server says is of their kind. */
function stateSource<T extends { readonly metadata: ObjectMeta }>(
  type: ResourceType,
  changed: (object: T) => void,
  gone: (object: T) => void,
): StateSource {
  return { type, changed: changed as unknown as StateSource["changed"], gone: gone as unknown as StateSource["gone"] };
}
