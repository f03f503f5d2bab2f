import type { Pod, PodSpec } from "../../api/kubernetes/pod.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { PdbIndex } from "../pdb-index.ts";
import { compilePdb, isCurrentlyReschedulable, type PodDisruptionBudget } from "../pod-predicates.ts";
import { type PodProblem, type PodValidation, podProblems } from "../pod-validation.ts";
import type { ClusterSnapshot } from "./cluster-snapshot.ts";

/** The pods of a round. */
export interface RoundPods {
  /** Pending pods that pass validation. (02 §1.5) */
  readonly pending: readonly Pod[];
  /** Virtual pods of capacity buffers; they exist only here, so there is nothing to validate. (02:B-6) */
  readonly ofBuffers: readonly Pod[];
  /** Pods on nodes that are being deleted, as far as they can be rescheduled; not validated. (02:P-31, 03:I-6) */
  readonly onDeletingNodes: readonly Pod[];
  /** Pending pods that do not pass validation. */
  readonly ignored: readonly IgnoredPod[];
}

export interface IgnoredPod {
  readonly pod: Pod;
  readonly problems: readonly PodProblem[];
}

export interface RoundPodsOptions extends Omit<PodValidation, "volumes"> {
  readonly bufferPods: readonly Pod[];
  /** Provider ids of nodes whose replacements are being created: their pods are taken care of, whoever deletes the nodes. (03:D-73) */
  readonly beingReplaced?: ReadonlySet<string> | undefined;
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  readonly nowMs: number;
}

/** Collects the pods a round has to place. (02:P-30) */
export function* collectRoundPods(
  snapshot: ClusterSnapshot,
  { bufferPods, disruptionBudgets, beingReplaced, nowMs, ...validation }: RoundPodsOptions,
): Steps<RoundPods> {
  const problemsOf = podValidator({ ...validation, volumes: snapshot.volumes });
  const pending: Pod[] = [];
  const ignored: IgnoredPod[] = [];
  yield* forEachInSteps(snapshot.pendingPods, (pod) => {
    const problems = problemsOf(pod);
    if (problems.length === 0) pending.push(pod);
    else ignored.push({ pod, problems });
  });
  const onDeletingNodes = podsOnDeletingNodes(snapshot, { disruptionBudgets, beingReplaced, nowMs });
  return { pending, ofBuffers: bufferPods, onDeletingNodes, ignored };
}

function podsOnDeletingNodes(
  { nodes }: ClusterSnapshot,
  { disruptionBudgets, beingReplaced, nowMs }: Pick<RoundPodsOptions, "disruptionBudgets" | "beingReplaced" | "nowMs">,
): readonly Pod[] {
  const deletingNodes = nodes.filter(
    ({ isBeingDeleted, node, providerId }) =>
      isBeingDeleted && node !== undefined && beingReplaced?.has(providerId) !== true,
  );
  if (deletingNodes.length === 0) return [];
  const pdbs = new PdbIndex(disruptionBudgets.map(compilePdb));
  return deletingNodes.flatMap(({ pods }) => pods.filter((pod) => isCurrentlyReschedulable(pod, { pdbs, nowMs })));
}

/** All pods a round tries to place. */
export function podsToPlace({ pending, ofBuffers, onDeletingNodes }: RoundPods): readonly Pod[] {
  return [...pending, ...ofBuffers, ...onDeletingNodes];
}

/** Pods of one template share one spec object, which is validated once. */
function podValidator(validation: PodValidation): (pod: Pod) => readonly PodProblem[] {
  const known = new Map<PodSpec, readonly PodProblem[]>();
  return (pod) => {
    if (usesVolumeClaims(pod.spec)) return podProblems(pod, validation);
    const problems = known.get(pod.spec) ?? podProblems(pod, validation);
    known.set(pod.spec, problems);
    return problems;
  };
}

/** The problems of a volume claim depend on the pod's name and namespace too. */
function usesVolumeClaims({ volumes = [] }: PodSpec): boolean {
  return volumes.some(({ persistentVolumeClaim, ephemeral }) => (persistentVolumeClaim ?? ephemeral) !== undefined);
}
