import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { nominationMs } from "../../../src/controllers/settings.ts";
import type { KubeClient } from "../../../src/kube/client.ts";
import { type Controller, startControllers } from "../../../src/kube/controller.ts";
import { ClusterState } from "../../../src/state/cluster-state.ts";
import { clusterStateController } from "../../../src/state/cluster-state-controller.ts";
import type { ControllerWorld } from "../controller-world.ts";

/** A loop whose creations and deletions are heard of, and can be made to fail, before they reach the server. */
export function overheard(loop: Controller, hear: () => void): Controller {
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
export function restart(
  world: ControllerWorld,
  controllers: (parts: ControllerDependencies) => readonly Controller[],
): () => Promise<void> {
  const { clock, cloud, parts } = world;
  const cluster = new ClusterState({
    clock,
    servedNodeClasses: cloud.nodeClasses,
    nominationMs: nominationMs(parts.settings),
  });
  const running = startControllers({
    client: world.client,
    clock,
    random: world.random.fork("restarted"),
    controllers: [clusterStateController(cluster), ...controllers({ ...parts, cluster })],
    log: world.log,
  });
  return async () => {
    const stopped = running.stop();
    await clock.advance(60_000);
    await stopped;
  };
}
