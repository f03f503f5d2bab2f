import type { Pod } from "../../api/kubernetes/pod.ts";
import { namespacedName } from "../../api/object.ts";
import type { Decision } from "../scheduling/decision.ts";
import type { ExistingNodeState, Pass, PlannedNodeState, QueuedPod } from "../scheduling/pass-state.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import { closePass, openPass, stepPass } from "../scheduling/solve.ts";

/** A scheduling pass that has ended, looked at for one pod. */
export interface Simulation {
  readonly problem: SchedulingProblem;
  readonly pass: Pass;
  readonly queuedPod: QueuedPod;
  readonly location: PodLocation | undefined;
}

/** Where a pod ended up. */
export type PodLocation =
  | { readonly kind: "node"; readonly existingNode: ExistingNodeState }
  | { readonly kind: "claim"; readonly plannedNode: PlannedNodeState };

/** Plans the whole problem; undefined where nothing is planned at all or the pod is not in it. (02:P-32) */
export function simulateFor(problem: SchedulingProblem, podKey: string): Simulation | undefined {
  if (problem.pools.length === 0) return undefined;
  const pass = simulatePass(problem);
  const queuedPod = allQueuedPods(pass).find(({ pod }) => namespacedName(pod.metadata) === podKey);
  return queuedPod && { problem, pass, queuedPod, location: locationOf(pass, queuedPod) };
}

/** Places everybody else first, so that it can be asked what would then become of the pod. */
export function simulateWithout(problem: SchedulingProblem, podKey: string): Simulation | undefined {
  const pass = openPass(problem);
  const index = pass.queue.findIndex(({ pod }) => namespacedName(pod.metadata) === podKey);
  const [queuedPod] = index < 0 ? [] : pass.queue.splice(index, 1);
  return queuedPod && { problem, pass: runToEnd(pass), queuedPod, location: undefined };
}

/** Runs a pass to its end. */
export function simulatePass(problem: SchedulingProblem): Pass {
  return runToEnd(openPass(problem));
}

function runToEnd(pass: Pass): Pass {
  while (stepPass(pass)) {
    // until the queue is empty or nothing moves any more
  }
  return pass;
}

function* eachQueuedPod(pass: Pass): Iterable<QueuedPod> {
  for (const { pods } of pass.existingNodes) yield* pods;
  for (const { pods } of pass.plannedNodes) yield* pods;
  yield* unplacedPods(pass);
}

/** Every pod of the round, wherever it ended up. */
export function allQueuedPods(pass: Pass): readonly QueuedPod[] {
  return [...eachQueuedPod(pass)];
}

/** Entries that found no place. */
export function unplacedPods({ queue, queueHead }: Pass): readonly QueuedPod[] {
  return queue.slice(queueHead);
}

function locationOf(pass: Pass, queuedPod: QueuedPod): PodLocation | undefined {
  const existingNode = pass.existingNodes.find(({ pods }) => pods.includes(queuedPod));
  if (existingNode !== undefined) return { kind: "node", existingNode };
  const plannedNode = pass.plannedNodes.find(({ pods }) => pods.includes(queuedPod));
  return plannedNode === undefined || isDropped(pass, plannedNode) ? undefined : { kind: "claim", plannedNode };
}

/** A claim may be given up in the end for too little flexibility. (02:Q-52) */
function isDropped(pass: Pass, plannedNode: PlannedNodeState): boolean {
  if (!plannedNode.requirementState.hasMinValues) return false;
  const [first] = plannedNode.pods;
  return closePass(pass).refusals.some(({ pod }) => pod === first?.pod);
}

/** Keys of the pods without a place. */
export function unplacedPodKeys(pass: Pass): ReadonlySet<string> {
  const dropped = pass.plannedNodes.filter((plannedNode) => isDropped(pass, plannedNode)).flatMap(({ pods }) => pods);
  return new Set([...unplacedPods(pass), ...dropped].map(({ pod }) => namespacedName(pod.metadata)));
}

/** The pod's place in a decision, if it has one. */
export function placementInDecision(decision: Decision, pod: Pod) {
  const key = namespacedName(pod.metadata);
  const isHere = ({ pods }: { readonly pods: readonly Pod[] }): boolean =>
    pods.some(({ metadata }) => namespacedName(metadata) === key);
  const placement = decision.placements.find(isHere);
  if (placement !== undefined) return { kind: "node", placement } as const;
  const planned = decision.newNodes.find(isHere);
  return planned && ({ kind: "new", planned } as const);
}
