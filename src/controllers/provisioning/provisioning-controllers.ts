import type { ResourceType } from "../../kube/client.ts";
import type { Controller } from "../../kube/controller.ts";
import { builtInTypes, karpenterTypes } from "../../kube/resources.ts";
import { ExpiringMap } from "../../util/expiring-map.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { deviceKinds } from "../device-views.ts";
import { type KarpenterContext, withDependencies } from "../karpenter-context.ts";
import type { Settings } from "../settings.ts";
import { Batcher } from "./batcher.ts";
import { explainPodNow } from "./explain-pod-now.ts";
import { nominationController } from "./nomination-controller.ts";
import { provision, provisionerName, type RoundOptions } from "./round.ts";
import { selectorOwnerKinds } from "./round-problem.ts";
import { nodeTriggerController, podTriggerController, triggerRecheckMs } from "./trigger-controllers.ts";

/** How soon a round that nobody triggers again is tried again while the state is not synced. */
const unsyncedRetryMs = 1_000;
/**
 * The round after one that timed out gets twice the budget, up to this many: it must first place again the pods of the
 * last one, which still wait for their nodes. With a budget of five seconds this is a minute. (02:Q-9)
 */
const maxBudgetCount = 12;

/** Controllers that turn pending pods into NodeClaims. (02 §1) */
export function provisioningControllers(dependencies: ControllerDependencies): readonly Controller[] {
  return [
    provisionerController(dependencies),
    podTriggerController(dependencies),
    nodeTriggerController(dependencies),
    nominationController(dependencies),
  ];
}

/** Runs rounds one after another, each on a synced cluster state. */
function provisionerController(dependencies: ControllerDependencies): Controller {
  const { settings } = dependencies;
  const kinds = kindsReadByRounds(settings);
  const because = "pods that wait ask for a round again, and buffers every half minute";
  const asked = settings.gates.ExpectedPods ? [builtInTypes.ReplicaSet] : [];
  const sources = [...kinds, ...asked, "cluster state", "cloud"] as const;
  const reads = sources.map((of) => ({ of, withinMs: triggerRecheckMs, because }));
  return withDependencies({ name: provisionerName, kinds, reads, run: runRounds }, dependencies);
}

async function runRounds(context: KarpenterContext, signal: AbortSignal): Promise<void> {
  const { clock, settings, trigger, cluster, bufferPods } = context;
  const warnedPods = new ExpiringMap<true>(clock);
  const batcher = new Batcher({ trigger, clock, idleMs: settings.batchIdleMs, maxMs: settings.batchMaxMs });
  const stopExplaining = context.explanations?.providePods((key) => explainPodNow(key, context));
  signal.addEventListener("abort", () => stopExplaining?.(), { once: true });
  let budgetCount = 1;
  for (;;) {
    const end = await batcher.nextWindow(signal);
    if (end === "stopped") return;
    if (cluster.isSynced) {
      const isUnfinished = await runRound({ budgetCount, warnedPods, areMoreComing: end === "maximum" }, context);
      budgetCount = isUnfinished ? Math.min(2 * budgetCount, maxBudgetCount) : 1;
      if (isUnfinished) trigger.fire(provisionerName);
    } else if (budgetCount > 1 || bufferPods.all().length > 0) {
      // Not synced: the round is skipped and its pods trigger again. An unfinished one need not wait for that, and the
      // virtual pods of buffers cannot. (02:P-21)
      clock.setTimer(unsyncedRetryMs, () => trigger.fire(provisionerName));
    }
  }
}

/** Whether the round timed out. A failed round is over: its pods trigger again. */
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

function kindsReadByRounds({ gates, defaultConstraints, ignoreDraRequests }: Settings): readonly ResourceType[] {
  return [
    karpenterTypes.NodePool,
    builtInTypes.PodDisruptionBudget,
    ...(gates.CapacityBuffer ? [karpenterTypes.CapacityBuffer] : []),
    ...(defaultConstraints.length > 0 ? selectorOwnerKinds : []),
    ...(ignoreDraRequests ? [] : deviceKinds),
  ];
}
