import type { ControllerDependencies } from "../../../src/controllers/controller-dependencies.ts";
import { nominationMs } from "../../../src/controllers/settings.ts";
import { type Controller, startControllers } from "../../../src/kube/controller.ts";
import { ClusterState } from "../../../src/state/cluster-state.ts";
import { clusterStateController } from "../../../src/state/cluster-state-controller.ts";
import { beforeWrites } from "../../world/intercept-calls.ts";
import type { ControllerWorld } from "../controller-world.ts";

/** A controller that tells of each creation and deletion before it is made; what it throws fails the call. */
export function beforeCreateAndDelete(controller: Controller, tell: () => void): Controller {
  const wrap = beforeWrites(({ verb }) => {
    if (verb === "create" || verb === "delete") tell();
  });
  return {
    ...controller,
    run: ({ client, ...context }, signal) => controller.run({ ...context, client: wrap(client) }, signal),
  };
}

/** Controllers that know nothing yet, over the same cluster. Returns how to stop them. */
export function restart(
  world: ControllerWorld,
  controllers: (dependencies: ControllerDependencies) => readonly Controller[],
): () => Promise<void> {
  const { clock, provider, dependencies } = world;
  const cluster = new ClusterState({
    clock,
    servedNodeClasses: provider.nodeClasses,
    nominationMs: nominationMs(dependencies.settings),
  });
  const running = startControllers({
    client: world.client,
    clock,
    random: world.random.fork("restarted"),
    controllers: [clusterStateController(cluster), ...controllers({ ...dependencies, cluster })],
    log: world.log,
  });
  return async () => {
    const stopped = running.stop();
    await clock.advance(60_000);
    await stopped;
  };
}
