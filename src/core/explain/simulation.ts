import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import { runSteps } from "../../util/steps.ts";
import type { Decision, ExistingNodePlacement, PlannedNode } from "../scheduling/decision.ts";
import type { Pass, QueuedPod } from "../scheduling/pass-state.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { solveInSteps } from "../scheduling/solve.ts";

/** A pass that has ended, and its decision. */
interface SimulatedPass {
  readonly pass: Pass;
  readonly decision: Decision;
}

/** A simulated pass, looked at for one pod. */
export interface Simulation extends SimulatedPass {
  readonly problem: SchedulingProblem;
  readonly queuedPod: QueuedPod;
}

/** Where a decision places a pod. */
export type PodLocation =
  | { readonly kind: "existing-node"; readonly placement: ExistingNodePlacement }
  | { readonly kind: "planned-node"; readonly plannedNode: PlannedNode };

/** Undefined if there are no pools, or the pod is not part of the problem. (02:P-32) */
export function simulateFor(problem: SchedulingProblem, podKey: string): Simulation | undefined {
  if (problem.pools.length === 0) return undefined;
  const simulated = simulatePass(problem);
  const queuedPod = allQueuedPods(simulated.pass).find(({ pod }) => namespacedName(pod.metadata) === podKey);
  return queuedPod && { problem, ...simulated, queuedPod };
}

/** Places all other pods, to see what would then refuse this one. */
export function simulateWithout(problem: SchedulingProblem, podKey: string): Simulation | undefined {
  const removed: QueuedPod[] = [];
  const simulated = simulatePass(problem, ({ queue }) => {
    const index = queue.findIndex(({ pod }) => namespacedName(pod.metadata) === podKey);
    if (index >= 0) removed.push(...queue.splice(index, 1));
  });
  const [queuedPod] = removed;
  return queuedPod && { problem, ...simulated, queuedPod };
}

export function simulatePass(problem: SchedulingProblem, prepare?: (pass: Pass) => void): SimulatedPass {
  const opened: Pass[] = [];
  const decision = runSteps(
    solveInSteps(problem, {
      onPassOpened: (pass) => {
        prepare?.(pass);
        opened.push(pass);
      },
    }),
  );
  const [pass] = opened;
  if (pass === undefined) throw new Error("the pass ended without being opened");
  return { pass, decision };
}

/** Every pod of the pass, placed or not. */
export function allQueuedPods(pass: Pass): readonly QueuedPod[] {
  const placed = [...pass.existingNodes, ...pass.plannedNodes].flatMap(({ pods }) => pods);
  return [...placed, ...unplacedPods(pass)];
}

export function unplacedPods({ queue, queueHead }: Pass): readonly QueuedPod[] {
  return queue.slice(queueHead);
}

export function refusedPodKeys({ refusals }: Decision): ReadonlySet<string> {
  return new Set(refusals.map(({ pod }) => namespacedName(pod.metadata)));
}

/** Undefined if the pod is not placed. */
export function locationInDecision(decision: Decision, pod: Pod): PodLocation | undefined {
  return locationOfKey(decision, namespacedName(pod.metadata));
}

/** Where a decision places the pod namespace/name. */
export function locationOfKey({ placements, newNodes }: Decision, key: string): PodLocation | undefined {
  const isHere = ({ pods }: { readonly pods: readonly Pod[] }): boolean =>
    pods.some(({ metadata }) => namespacedName(metadata) === key);
  const placement = placements.find(isHere);
  if (placement !== undefined) return { kind: "existing-node", placement };
  const plannedNode = newNodes.find(isHere);
  return plannedNode && { kind: "planned-node", plannedNode };
}
