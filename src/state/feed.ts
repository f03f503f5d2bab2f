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
} from "../api/kubernetes/cluster.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { KubeObject, ObjectMeta } from "../api/object.ts";
import type { ResourceType } from "../kube/client.ts";
import { aborted, type Loop } from "../kube/loop.ts";
import { builtIn, custom } from "../kube/resources.ts";
import type { Change, View } from "../kube/view.ts";
import type { ClusterState } from "./cluster-state.ts";

interface Source {
  readonly type: ResourceType;
  readonly changed: (object: KubeObject) => void;
  readonly gone: (object: KubeObject) => void;
}

/**
 * Tells cluster state everything the views hear of, in the same turn: whoever is woken by a change finds the state
 * already changed. It begins when all kinds are here; where our CRDs are not installed it waits for them. (02:S-13)
 */
export function stateFeed(cluster: ClusterState): Loop {
  const sources = sourcesOf(cluster);
  return {
    name: "state",
    kinds: sources.map(({ type }) => type),
    run: async (world, signal) => {
      const stops: (() => void)[] = [];
      for (const source of sources) {
        const telling = listen(world.view(source.type), { source, stops });
        if (telling !== undefined) await telling;
      }
      for (const _ of cluster.warming()) {
        const rest = world.pause();
        if (rest !== undefined) await rest;
      }
      if (!signal.aborted) cluster.begun();
      await aborted(signal);
      for (const stop of stops) stop();
    },
  };
}

interface Listening {
  readonly source: Source;
  readonly stops: (() => void)[];
}

/** Resolves when all that is there has been told; undefined where it has been told at once. */
function listen(view: View<KubeObject>, { source, stops }: Listening): Promise<void> | undefined {
  let isTold = false;
  const telling = new Promise<void>((resolve) => {
    const heard = ({ object, old }: Change<KubeObject>): void => {
      if (object !== undefined) source.changed(object);
      else if (old !== undefined) source.gone(old);
    };
    const onTold = (): void => {
      isTold = true;
      resolve();
    };
    stops.push(view.subscribe(heard, onTold));
  });
  return isTold ? undefined : telling;
}

/** Volumes before the pods that use them, so that the first look is the only one. */
function sourcesOf(cluster: ClusterState): readonly Source[] {
  return [
    source<Namespace>(
      builtIn.Namespace,
      (one) => cluster.namespaceChanged(one),
      (one) => cluster.namespaceGone(one),
    ),
    source<StorageClass>(
      builtIn.StorageClass,
      (one) => cluster.storageClassChanged(one),
      (one) => cluster.storageClassGone(one),
    ),
    source<PersistentVolume>(
      builtIn.PersistentVolume,
      (one) => cluster.volumeChanged(one),
      (one) => cluster.volumeGone(one),
    ),
    source<PersistentVolumeClaim>(
      builtIn.PersistentVolumeClaim,
      (one) => cluster.volumeClaimChanged(one),
      (one) => cluster.volumeClaimGone(one),
    ),
    source<CsiNode>(
      builtIn.CSINode,
      (one) => cluster.csiNodeChanged(one),
      (one) => cluster.csiNodeGone(one),
    ),
    source<NodePool>(
      custom.NodePool,
      (one) => cluster.poolChanged(one),
      (one) => cluster.poolGone(one),
    ),
    source<NodeClaim>(
      custom.NodeClaim,
      (one) => cluster.claimChanged(one),
      (one) => cluster.claimGone(one),
    ),
    source<Node>(
      builtIn.Node,
      (one) => cluster.nodeChanged(one),
      (one) => cluster.nodeGone(one),
    ),
    source<DaemonSet>(
      builtIn.DaemonSet,
      (one) => cluster.daemonSetChanged(one),
      (one) => cluster.daemonSetGone(one),
    ),
    source<Pod>(
      builtIn.Pod,
      (one) => cluster.podChanged(one),
      (one) => cluster.podGone(one),
    ),
  ];
}

/** Views hold what the server says is of their kind. */
function source<T extends { readonly metadata: ObjectMeta }>(
  type: ResourceType,
  changed: (object: T) => void,
  gone: (object: T) => void,
): Source {
  return { type, changed: changed as unknown as Source["changed"], gone: gone as unknown as Source["gone"] };
}
