import { type ControllerContext, reconcileController, triggerOn } from "../../../kube/controller.ts";
import type { RequeueAfter } from "../../../kube/reconciler.ts";
import { apiVersionOf, builtInTypes } from "../../../kube/resources.ts";
import { changedObjectKey } from "../workloads/ownership.ts";
import { type ScalableWorkload, scalableTypes } from "../workloads/scalable-workloads.ts";
import { updateStatusIfChanged } from "../workloads/workload-status.ts";
import { AutoscalerStatusDraft } from "./autoscaler-status.ts";
import type { AutoscalerStatus, HorizontalPodAutoscaler } from "./autoscaler-types.ts";
import { measureUsage } from "./measure-usage.ts";
import { ScalingHistory } from "./scaling-history.ts";

/** How often usage is looked at. */
const periodMs = 15_000;

/** Keeps replicas of workloads where the usage of their pods is what autoscalers ask for. (05:CP-L16) */
export const horizontalPodAutoscalerController = reconcileController<ControllerContext, Map<string, ScalingHistory>>({
  name: "horizontal-pod-autoscaler",
  triggers: [triggerOn(builtInTypes.HorizontalPodAutoscaler, changedObjectKey)],
  kinds: [...scalableTypes, builtInTypes.Pod],
  reads: [...scalableTypes, builtInTypes.Pod].map((of) => ({
    of,
    withinMs: periodMs,
    because: "usage is looked at every 15 seconds",
  })),
  start: () => new Map(),
  reconcile: async (key, context, histories): Promise<RequeueAfter | undefined> => {
    const autoscaler = context.view<HorizontalPodAutoscaler>(builtInTypes.HorizontalPodAutoscaler).get(key);
    if (autoscaler === undefined || autoscaler.metadata.deletionTimestamp !== undefined) {
      histories.delete(key);
      return undefined;
    }
    const history = histories.get(key) ?? new ScalingHistory();
    histories.set(key, history);
    const status = await scale(autoscaler, history, context);
    await updateStatusIfChanged(context, builtInTypes.HorizontalPodAutoscaler, { object: autoscaler, status });
    return { afterMs: periodMs };
  },
});

/** Scales the target if it has to be, and returns the autoscaler's status. */
async function scale(
  autoscaler: HorizontalPodAutoscaler,
  history: ScalingHistory,
  context: ControllerContext,
): Promise<AutoscalerStatus> {
  const nowMs = context.clock.now();
  const status = new AutoscalerStatusDraft(autoscaler, nowMs);
  const found = targetOf(autoscaler, context);
  if (found === undefined) {
    const { kind, name } = autoscaler.spec.scaleTargetRef;
    const message = `the HPA controller was unable to get the target's current scale: ${kind} "${name}" not found`;
    context.recordEvent(autoscaler, { type: "Warning", reason: "FailedGetScale", message });
    return status.set("AbleToScale", "False", "FailedGetScale", message).done({});
  }
  const { type, target } = found;
  const current = target.spec.replicas ?? 1;
  status.set(
    "AbleToScale",
    "True",
    "SucceededGetScale",
    "the HPA controller was able to get the target's current scale",
  );
  if (current === 0) {
    const message = "scaling is disabled since the replica count of the target is zero";
    return status.set("ScalingActive", "False", "ScalingDisabled", message).done({ current, desired: 0 });
  }
  const usage = await measureUsage(autoscaler, target, context);
  const wanted = usage.wanted ?? current;
  if (usage.problem !== undefined) {
    status.set("ScalingActive", "False", usage.problem.reason, usage.problem.message);
    context.recordEvent(autoscaler, { type: "Warning", ...usage.problem });
  } else status.set("ScalingActive", "True", "ValidMetricFound", "the HPA was able to calculate a replica count");
  const desired = boundedReplicas(autoscaler, { current, wanted, history, nowMs }, status);
  if (desired !== current) {
    await context.client.patch(
      type,
      { name: target.metadata.name ?? "", namespace: target.metadata.namespace },
      { kind: "merge", body: { spec: { replicas: desired } } },
      { subresource: "scale" },
    );
    history.changed(nowMs, desired - current);
    const message = `New size: ${desired}; reason: ${usage.because ?? "Current number of replicas outside of the range"}`;
    context.recordEvent(autoscaler, { type: "Normal", reason: "SuccessfulRescale", message });
    status.set(
      "AbleToScale",
      "True",
      "SucceededRescale",
      `the HPA controller was able to update the target scale to ${desired}`,
    );
  }
  return status.done({ current, desired, metrics: usage.metrics, hasScaled: desired !== current });
}

function targetOf({ spec, metadata }: HorizontalPodAutoscaler, { view }: ControllerContext) {
  const { apiVersion, kind, name } = spec.scaleTargetRef;
  const type = scalableTypes.find(
    (one) => one.kind === kind && (apiVersion === undefined || apiVersionOf(one) === apiVersion),
  );
  const target = type && view<ScalableWorkload>(type).get(`${metadata.namespace}/${name}`);
  return target === undefined || type === undefined ? undefined : { type, target };
}

interface Wanted {
  readonly current: number;
  readonly wanted: number;
  readonly history: ScalingHistory;
  readonly nowMs: number;
}

/** Outside of the range it goes there at once; within it, history and policies bound the change. */
function boundedReplicas(
  { spec: { minReplicas: min = 1, maxReplicas: max, behavior } }: HorizontalPodAutoscaler,
  { current, wanted, history, nowMs }: Wanted,
  status: AutoscalerStatusDraft,
): number {
  const inRange = (replicas: number): number => Math.min(max, Math.max(min, replicas));
  if (inRange(current) !== current) return limited(inRange(current), { min, max, wanted: current }, status);
  const { scaleUp, scaleDown } = behavior ?? {};
  const next = history.next({ nowMs, current, proposed: wanted, scaleUp, scaleDown });
  if (wanted < next && next === current)
    status.set(
      "AbleToScale",
      "True",
      "ScaleDownStabilized",
      "recent recommendations were higher than current one, applying the highest recent recommendation",
    );
  return limited(inRange(next), { min, max, wanted: next }, status);
}

function limited(
  replicas: number,
  { min, max, wanted }: { readonly min: number; readonly max: number; readonly wanted: number },
  status: AutoscalerStatusDraft,
): number {
  if (wanted > max)
    status.set(
      "ScalingLimited",
      "True",
      "TooManyReplicas",
      "the desired replica count is more than the maximum replica count",
    );
  else if (wanted < min)
    status.set(
      "ScalingLimited",
      "True",
      "TooFewReplicas",
      "the desired replica count is less than the minimum replica count",
    );
  else status.set("ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range");
  return replicas;
}
