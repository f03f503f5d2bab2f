import type { ResourceType } from "../../kube/client.ts";
import type { Controller } from "../../kube/controller.ts";
import { ExpiringMap } from "../../kube/expiring-map.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { type KarpenterContext, withDependencies } from "../karpenter-context.ts";
import type { Settings } from "../settings.ts";
import { Batcher } from "./batcher.ts";
import { provision, provisionerName, type RoundOptions } from "./round.ts";
import { selectorOwnerKinds } from "./round-problem.ts";
import { nodeTriggerController, podTriggerController } from "./trigger-controllers.ts";

/** After a round that was cut short: how soon to look whether the state is synced. */
const unfinishedRetryMs = 1_000;
/**
 * The round after one that was cut short may take twice as long: it has to place again what the last one placed, which
 * waits for its nodes, before it comes to the rest. With a budget of five seconds this is a minute. (02:Q-9)
 */
const maxBudgetCount = 12;

/** From pods that wait to NodeClaims. (02 §1) */
export function provisioningControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return [provisionerController(dependencies), podTriggerController(dependencies), nodeTriggerController(dependencies)];
}

/** One round after another, each on a cluster that is what we believe it is. */
function provisionerController(dependencies: ControllerDependencies): Controller {
  const kinds = kindsReadByRounds(dependencies.settings);
  return withDependencies({ name: provisionerName, kinds, run: runRounds }, dependencies);
}

async function runRounds(context: KarpenterContext, signal: AbortSignal): Promise<void> {
  const { clock, settings, trigger, cluster } = context;
  const warnedPods = new ExpiringMap<true>(clock);
  const batcher = new Batcher({ trigger, clock, idleMs: settings.batchIdleMs, maxMs: settings.batchMaxMs });
  let budgetCount = 1;
  while (await batcher.nextWindow(signal)) {
    if (cluster.isSynced) {
      const isUnfinished = await runRound({ budgetCount, warnedPods }, context);
      budgetCount = isUnfinished ? Math.min(2 * budgetCount, maxBudgetCount) : 1;
      if (isUnfinished) trigger.fire(provisionerName);
    } else if (budgetCount > 1) {
      // A round is given up, and its pods come back by themselves; what was cut short need not wait for that. (02:P-21)
      clock.setTimer(unfinishedRetryMs, () => trigger.fire(provisionerName));
    }
  }
}

/** Says whether the round ran out of time. One that fails is over: its pods ask again. */
async function runRound(options: RoundOptions, context: KarpenterContext): Promise<boolean> {
  const { clock, observe } = context;
  const startedAt = clock.now();
  observe?.runStarted?.();
  try {
    const { isUnfinished } = await provision(options, context);
    observe?.runFinished?.("success", clock.now() - startedAt);
    return isUnfinished;
  } catch (error) {
    context.reportFailure({ kind: "reconcile-failed", controller: provisionerName, key: provisionerName, error });
    observe?.runFinished?.("error", clock.now() - startedAt);
    return false;
  }
}

function kindsReadByRounds({ gates, defaultConstraints }: Settings): readonly ResourceType[] {
  return [
    karpenterTypes.NodePool,
    builtInTypes.PodDisruptionBudget,
    ...(gates.CapacityBuffer ? [karpenterTypes.CapacityBuffer] : []),
    ...(defaultConstraints.length > 0 ? selectorOwnerKinds : []),
  ];
}
