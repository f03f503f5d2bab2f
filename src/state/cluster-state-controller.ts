import type { KubeObject } from "../api/object.ts";
import type { Controller, ControllerContext } from "../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../kube/resources.ts";
import type { ObjectChange } from "../kube/view.ts";
import { whenAborted } from "../util/abort.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { KindTypes } from "./objects-by-kind.ts";
import { type StateKind, type StateUpdate, stateKinds, stateUpdates } from "./state-kinds.ts";

/** The resource types of the kinds that cluster state is fed with, and of others. */
export const stateResourceTypes = { ...builtInTypes, ...karpenterTypes };

/**
 * Feeds cluster state with every change of the views, in the same turn: whoever a change wakes finds the state already
 * changed. It starts when all kinds are served; until our CRDs are installed it waits for them. (02:S-13)
 */
export function clusterStateController(cluster: ClusterState): Controller {
  const updates = stateUpdates(cluster);
  return {
    name: "state",
    kinds: stateKinds.map((kind) => stateResourceTypes[kind]),
    run: async (context, signal) => {
      const stops: (() => void)[] = [];
      for (const kind of stateKinds) {
        const initialList = subscribeToKind(kind, { update: updates[kind], context, stops });
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

interface KindSubscription<K extends StateKind> {
  readonly update: StateUpdate<KindTypes[K]>;
  readonly context: Pick<ControllerContext, "view">;
  readonly stops: (() => void)[];
}

/** Resolves when the initial list is complete; undefined if it already is. */
function subscribeToKind<K extends StateKind>(
  kind: K,
  { update, context, stops }: KindSubscription<K>,
): Promise<void> | undefined {
  let isListed = false;
  const initialList = new Promise<void>((resolve) => {
    const onChange = ({ object, old }: ObjectChange<KubeObject & KindTypes[K]>): void => {
      if (object !== undefined) update.changed(object);
      else if (old !== undefined) update.gone(old);
    };
    const onInitialDelivered = (): void => {
      isListed = true;
      resolve();
    };
    const view = context.view<KubeObject & KindTypes[K]>(stateResourceTypes[kind]);
    stops.push(view.subscribe(onChange, { onInitialDelivered, isFirst: true }));
  });
  return isListed ? undefined : initialList;
}
