import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { compilePdb, isCurrentlyReschedulable, type PodDisruptionBudget } from "../../core/pod-predicates.ts";
import {
  deservesEvent,
  ignoredPodText,
  type PodProblem,
  podProblems,
  podProblemsText,
} from "../../core/pod-validation.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { ClusterSnapshot } from "../../state/cluster.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import { ConsolidationWarnings } from "./consolidation-warnings.ts";
import { forEachInSlices } from "./for-each-in-slices.ts";
import { logReference } from "./log-text.ts";
import { recordPodRefused } from "./pod-decisions.ts";
import type { ProvisioningContext } from "./provisioning-context.ts";
import { failedSchedulingEvent, podEventSubject } from "./scheduling-events.ts";

/** The pods of a round. */
export interface RoundPods {
  /** Pending ones that may be scheduled, and those of buffers. */
  readonly pending: readonly Pod[];
  /** Those that must leave their nodes. (02:P-31) */
  readonly onDeletingNodes: readonly Pod[];
}

/** Who needs a place; pods that cannot have one from us are told why. (02:P-30) */
export async function collectRoundPods(
  provisioningContext: ProvisioningContext,
  snapshot: ClusterSnapshot,
): Promise<RoundPods> {
  const { bufferPods, settings } = provisioningContext.dependencies;
  const valid = await validPods(provisioningContext, snapshot);
  // Buffer pods exist nowhere but here: there is nothing of theirs to validate. (02:B-6)
  const pending = settings.gates.CapacityBuffer ? [...valid, ...bufferPods.all()] : valid;
  return { pending, onDeletingNodes: podsOnDeletingNodes(provisioningContext, snapshot) };
}

/** 02 §1.5. */
async function validPods(
  provisioningContext: ProvisioningContext,
  { pendingPods, volumes }: ClusterSnapshot,
): Promise<readonly Pod[]> {
  const { cloud, openBudget, metrics } = provisioningContext.dependencies;
  const problemsOf = podValidator(cloud, volumes);
  const warnings = new ConsolidationWarnings(provisioningContext);
  const valid: Pod[] = [];
  const validate = (pod: Pod): void => {
    const problems = problemsOf(pod);
    if (problems.length > 0) recordIgnoredPod(provisioningContext, pod, problems);
    else {
      valid.push(pod);
      warnings.check(pod);
    }
  };
  await forEachInSlices(pendingPods, { budget: openBudget(), validate });
  warnings.log();
  metrics.set("scheduler_ignored_pods_count", {}, pendingPods.length - valid.length);
  return valid;
}

/** Pods made from one template have one spec, which is looked at once. */
function podValidator(
  cloud: ControllerDependencies["cloud"],
  volumes: ClusterSnapshot["volumes"],
): (pod: Pod) => readonly PodProblem[] {
  const { drivers, topologyKeys } = cloud.unsupportedVolumes ?? { drivers: [], topologyKeys: [] };
  const validation = {
    labelPolicy: cloud.labelPolicy,
    volumes,
    unsupportedDrivers: new Set(drivers),
    unsupportedTopologyKeys: new Set(topologyKeys),
  };
  const known = new Map<PodSpec, readonly PodProblem[]>();
  return (pod) => {
    if (usesVolumeClaims(pod.spec)) return podProblems(pod, validation);
    const earlier = known.get(pod.spec);
    if (earlier !== undefined) return earlier;
    const problems = podProblems(pod, validation);
    known.set(pod.spec, problems);
    return problems;
  };
}

/** What is wrong with a claim depends on the pod's name and namespace as well. */
function usesVolumeClaims({ volumes = [] }: PodSpec): boolean {
  return volumes.some(({ persistentVolumeClaim, ephemeral }) => (persistentVolumeClaim ?? ephemeral) !== undefined);
}

function recordIgnoredPod(
  { dependencies, context }: ProvisioningContext,
  pod: Pod,
  problems: readonly PodProblem[],
): void {
  recordPodRefused(dependencies, pod, context.clock.now());
  dependencies.log.debug("ignoring pod", { Pod: logReference(pod.metadata), error: ignoredPodText(problems) });
  if (deservesEvent(problems))
    context.recordEvent(podEventSubject(pod), failedSchedulingEvent(pod, podProblemsText(problems)));
}

/** Of machines on their way out, as far as they can leave; nobody validates them. (02:P-31, 03:I-6) */
function podsOnDeletingNodes({ context }: ProvisioningContext, { nodes }: ClusterSnapshot): readonly Pod[] {
  const deletingNodes = nodes.filter(({ isBeingDeleted, node }) => isBeingDeleted && node !== undefined);
  if (deletingNodes.length === 0) return [];
  const pdbs = context.view<KubeObject & PodDisruptionBudget>(builtInTypes.PodDisruptionBudget).all().map(compilePdb);
  const now = context.clock.now();
  return deletingNodes.flatMap(({ pods }) => pods.filter((pod) => isCurrentlyReschedulable(pod, { pdbs, nowMs: now })));
}
