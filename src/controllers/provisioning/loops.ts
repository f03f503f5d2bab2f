import type { ResourceType } from "../../kube/client.ts";
import type { Loop } from "../../kube/loop.ts";
import { Recently } from "../../kube/recently.ts";
import { builtIn, custom } from "../../kube/resources.ts";
import type { Settings } from "../settings.ts";
import { Batcher } from "./batcher.ts";
import { type Desk, type ProvisioningParts, provisioner } from "./parts.ts";
import { selectorOwnerKinds } from "./problem.ts";
import { provision } from "./round.ts";
import { nodeTrigger, podTrigger } from "./trigger-loops.ts";

/** After a round that was cut short: how soon to look whether the state is synced. */
const unfinishedRetryMs = 1_000;
/**
 * The round after one that was cut short may take twice as long: it has to place again what the last one placed, which
 * waits for its nodes, before it comes to the rest. With a budget of five seconds this is a minute. (02:Q-9)
 */
const mostGrants = 12;

/** From pods that wait to NodeClaims. (02 §1) */
export function provisioningLoops(parts: ProvisioningParts): readonly Loop[] {
  return [provisionerLoop(parts), podTrigger(parts), nodeTrigger(parts)];
}

/** One round after another, each on a cluster that is what we believe it is. */
function provisionerLoop(parts: ProvisioningParts): Loop {
  const { settings, trigger, cluster } = parts;
  return {
    name: provisioner,
    kinds: kindsRead(settings),
    run: async (world, signal) => {
      const { clock } = world;
      const desk: Desk = { parts, world, warned: new Recently(clock) };
      const batcher = new Batcher({ trigger, clock, idleMs: settings.batchIdleMs, maxMs: settings.batchMaxMs });
      let grants = 1;
      while (await batcher.window(signal)) {
        if (cluster.isSynced) {
          const isUnfinished = await attempt(desk, grants);
          grants = isUnfinished ? Math.min(2 * grants, mostGrants) : 1;
          if (isUnfinished) trigger.fire(provisioner);
        } else if (grants > 1) {
          // A round is given up, and its pods come back by themselves; what was cut short need not wait for that. (02:P-21)
          clock.setTimer(unfinishedRetryMs, () => trigger.fire(provisioner));
        }
      }
    },
  };
}

/** Says whether the round ran out of time. One that fails is over: its pods ask again. */
async function attempt(desk: Desk, grants: number): Promise<boolean> {
  const { world } = desk;
  const { clock, observe } = world;
  const startedAt = clock.now();
  observe?.started?.();
  try {
    const { isUnfinished } = await provision(desk, { grants });
    observe?.finished?.("success", clock.now() - startedAt);
    return isUnfinished;
  } catch (error) {
    world.log({ kind: "reconcile-failed", loop: provisioner, key: provisioner, error });
    observe?.finished?.("error", clock.now() - startedAt);
    return false;
  }
}

function kindsRead({ gates, defaultConstraints }: Settings): readonly ResourceType[] {
  return [
    custom.NodePool,
    builtIn.PodDisruptionBudget,
    ...(gates.CapacityBuffer ? [custom.CapacityBuffer] : []),
    ...(defaultConstraints.length > 0 ? selectorOwnerKinds : []),
  ];
}
