import type { Parts } from "../../../src/controllers/parts.ts";
import { nominationMs } from "../../../src/controllers/settings.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import { type Loop, startLoops } from "../../../src/kube/loop.ts";
import { ClusterState } from "../../../src/state/cluster-state.ts";
import { stateFeed } from "../../../src/state/feed.ts";
import type { Rig } from "../rig.ts";

/** A loop whose creations and deletions are heard of, and can be made to fail, before they reach the server. */
export function overheard(loop: Loop, hear: () => void): Loop {
  return {
    ...loop,
    run: ({ client, ...world }, signal) => loop.run({ ...world, client: hearing(client, hear) }, signal),
  };
}

function hearing(client: KubeClient, hear: () => void): KubeClient {
  return {
    get: (type, key) => client.get(type, key),
    list: (type, options) => client.list(type, options),
    watch: (type, options) => client.watch(type, options),
    update: (type, object, options) => client.update(type, object, options),
    patch: (type, key, patch, options) => client.patch(type, key, patch, options),
    create: async (type, object, options) => {
      hear();
      return client.create(type, object, options);
    },
    delete: async (type, key, options) => {
      hear();
      return client.delete(type, key, options);
    },
  };
}

/** Controllers that know nothing yet, over the same cluster. Returns how to stop them. */
export function restart(world: Rig, controllers: (parts: Parts) => readonly Loop[]): () => Promise<void> {
  const { clock, cloud, parts } = world;
  const cluster = new ClusterState({ clock, served: cloud.nodeClasses, nominationMs: nominationMs(parts.settings) });
  const running = startLoops({
    client: world.client,
    clock,
    random: world.random.fork("restarted"),
    loops: [stateFeed(cluster), ...controllers({ ...parts, cluster })],
  });
  return async () => {
    const stopped = running.stop();
    await clock.advance(60_000);
    await stopped;
  };
}
