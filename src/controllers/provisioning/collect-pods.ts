import type { KubeObject } from "../../api/object.ts";
import type { PodDisruptionBudget } from "../../core/pod-predicates.ts";
import { deservesEvent, ignoredPodText, podProblemsText } from "../../core/pod-validation.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import { collectRoundPods, type IgnoredPod, type RoundPods } from "../../core/round/round-pods.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { ExpiringMap } from "../../util/expiring-map.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { ConsolidationWarnings } from "./consolidation-warnings.ts";
import { logReference } from "./log-text.ts";
import { recordPodRefused } from "./pod-decisions.ts";
import { forEachInSlices, runInSlices } from "./run-in-slices.ts";
import { failedSchedulingEvent, podEventSubject } from "./scheduling-events.ts";

/** Collects the pods to place; pods we cannot schedule get an event. (02:P-30) */
export async function collectPods(
  snapshot: ClusterSnapshot,
  warnedPods: ExpiringMap<true>,
  context: KarpenterContext,
): Promise<RoundPods> {
  const budget = context.openBudget();
  const roundPods = await roundPodsOf(snapshot, context);
  await forEachInSlices(roundPods.ignored, { budget, visit: (ignored) => recordIgnored(ignored, context) });
  const warnings = new ConsolidationWarnings(warnedPods, context);
  await forEachInSlices(roundPods.pending, { budget, visit: (pod) => warnings.check(pod) });
  warnings.log();
  context.metrics.set("scheduler_ignored_pods_count", {}, roundPods.ignored.length);
  return roundPods;
}

/** The pods a round would place, without events about the others. */
export function roundPodsOf(snapshot: ClusterSnapshot, context: KarpenterContext): Promise<RoundPods> {
  const { bufferPods, cloud, openBudget, settings } = context;
  const { drivers, topologyKeys } = cloud.unsupportedVolumes ?? { drivers: [], topologyKeys: [] };
  const collecting = collectRoundPods(snapshot, {
    labelPolicy: cloud.labelPolicy,
    unsupportedDrivers: new Set(drivers),
    unsupportedTopologyKeys: new Set(topologyKeys),
    bufferPods: settings.gates.CapacityBuffer ? bufferPods.all() : [],
    disruptionBudgets: context.view<KubeObject & PodDisruptionBudget>(builtInTypes.PodDisruptionBudget).all(),
    beingReplaced: context.cluster.beingReplaced,
    nowMs: context.clock.now(),
  });
  return runInSlices(collecting, openBudget());
}

function recordIgnored({ pod, problems }: IgnoredPod, context: KarpenterContext): void {
  recordPodRefused(pod, context);
  context.log.debug("ignoring pod", { Pod: logReference(pod.metadata), error: ignoredPodText(problems) });
  if (deservesEvent(problems))
    context.recordEvent(podEventSubject(pod), failedSchedulingEvent(pod, podProblemsText(problems)));
}
