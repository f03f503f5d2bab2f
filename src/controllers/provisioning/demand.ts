import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import { deservesEvent, ignoredText, type PodProblem, podProblems, problemsText } from "../../core/pod-validation.ts";
import { disruptionBudget, isCurrentlyReschedulable, type PodDisruptionBudget } from "../../core/provisionable.ts";
import { builtIn } from "../../kube/resources.ts";
import type { ClusterSnapshot } from "../../state/cluster.ts";
import type { Parts } from "../parts.ts";
import { ConsolidationWarnings } from "./consolidation-warnings.ts";
import { failedScheduling, subjectOf } from "./events.ts";
import type { Desk } from "./parts.ts";
import { recordRefused } from "./pod-decisions.ts";
import { inSlices } from "./slices.ts";
import { referred } from "./words.ts";

/** The pods of a round. */
export interface Demand {
  /** Pending ones that may be scheduled, and those of buffers. */
  readonly pending: readonly Pod[];
  /** Those that must leave their nodes. (02:P-31) */
  readonly moving: readonly Pod[];
}

/** Who needs a place; pods that cannot have one from us are told why. (02:P-30) */
export async function demandOf(desk: Desk, snapshot: ClusterSnapshot): Promise<Demand> {
  const { buffers, settings } = desk.parts;
  const valid = await validPods(desk, snapshot);
  // Buffer pods exist nowhere but here: there is nothing of theirs to validate. (02:B-6)
  const pending = settings.gates.CapacityBuffer ? [...valid, ...buffers.all()] : valid;
  return { pending, moving: podsOnTheMove(desk, snapshot) };
}

/** 02 §1.5. */
async function validPods(desk: Desk, { pendingPods, volumes }: ClusterSnapshot): Promise<readonly Pod[]> {
  const { cloud, budgets, metrics } = desk.parts;
  const problemsOf = reviewer(cloud, volumes);
  const warnings = new ConsolidationWarnings(desk);
  const valid: Pod[] = [];
  const look = (pod: Pod): void => {
    const problems = problemsOf(pod);
    if (problems.length > 0) ignore(desk, pod, problems);
    else {
      valid.push(pod);
      warnings.look(pod);
    }
  };
  await inSlices(pendingPods, { budget: budgets(), look });
  warnings.say();
  metrics.set("scheduler_ignored_pods_count", {}, pendingPods.length - valid.length);
  return valid;
}

/** Pods made from one template have one spec, which is looked at once. */
function reviewer(cloud: Parts["cloud"], volumes: ClusterSnapshot["volumes"]): (pod: Pod) => readonly PodProblem[] {
  const { drivers, topologyKeys } = cloud.unsupportedVolumes ?? { drivers: [], topologyKeys: [] };
  const validation = {
    labelPolicy: cloud.labelPolicy,
    volumes,
    unsupportedDrivers: new Set(drivers),
    unsupportedTopologyKeys: new Set(topologyKeys),
  };
  const known = new Map<PodSpec, readonly PodProblem[]>();
  return (pod) => {
    if (claimsVolumes(pod.spec)) return podProblems(pod, validation);
    const earlier = known.get(pod.spec);
    if (earlier !== undefined) return earlier;
    const problems = podProblems(pod, validation);
    known.set(pod.spec, problems);
    return problems;
  };
}

/** What is wrong with a claim depends on the pod's name and namespace as well. */
function claimsVolumes({ volumes = [] }: PodSpec): boolean {
  return volumes.some(({ persistentVolumeClaim, ephemeral }) => (persistentVolumeClaim ?? ephemeral) !== undefined);
}

function ignore({ parts, world }: Desk, pod: Pod, problems: readonly PodProblem[]): void {
  recordRefused(parts, pod, world.clock.now());
  parts.log.debug("ignoring pod", { Pod: referred(pod.metadata), error: ignoredText(problems) });
  if (deservesEvent(problems)) world.tell(subjectOf(pod), failedScheduling(pod, problemsText(problems)));
}

/** Of machines on their way out, as far as they can leave; nobody validates them. (02:P-31, 03:I-6) */
function podsOnTheMove({ world }: Desk, { nodes }: ClusterSnapshot): readonly Pod[] {
  const leaving = nodes.filter(({ isLeaving, node }) => isLeaving && node !== undefined);
  if (leaving.length === 0) return [];
  const pdbs = world.view<KubeObject & PodDisruptionBudget>(builtIn.PodDisruptionBudget).all().map(disruptionBudget);
  const now = world.clock.now();
  return leaving.flatMap(({ pods }) => pods.filter((pod) => isCurrentlyReschedulable(pod, { pdbs, now })));
}
