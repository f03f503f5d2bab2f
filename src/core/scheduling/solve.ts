import { namespacedName } from "../../api/object.ts";
import { PlanPolisher } from "../polish/plan-polisher.ts";
import { closePass } from "./close-pass.ts";
import { commitToExistingNode, commitToNewNode, commitToPlannedNode, newNodeCandidate } from "./commit.ts";
import type { Decision } from "./decision.ts";
import { fitOnExistingNode } from "./fit-on-existing-node.ts";
import {
  candidateOf,
  fitOnPlannedNode,
  mergeIfCompatible,
  type NodeCandidate,
  type PodAttempt,
  toleratesTaintsAndHostname,
} from "./fit-on-planned-node.ts";
import { hasUnsatisfiableTopology } from "./narrow-by-topology.ts";
import { openPass } from "./open-pass.ts";
import type { CandidateFit, CurrentPod, ExistingNodeState, Pass, QueuedPod } from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { SchedulingProblem } from "./problem.ts";
import { variantAt } from "./variants.ts";

/** One scheduling pass. Pure: the same problem always yields the same decision. (02 §5) */
export function solve(problem: SchedulingProblem): Decision {
  const pass = openPass(problem);
  while (stepPass(pass)) {
    // each step tries one pod, with what is left of its wishes
  }
  return closePass(pass);
}

export { closePass, openPass };

/**
 * Tries the next pod, or the same one with a preference less; false when the pass is over. A caller may stop between any
 * two steps. (02)
 */
export function stepPass(pass: Pass): boolean {
  pass.currentPod ??= takeNextPod(pass);
  const { currentPod } = pass;
  if (currentPod === undefined) return polishStep(pass);
  const outcome = tryCurrentPod(pass, currentPod);
  if (outcome === "again") return true;
  pass.currentPod = undefined;
  if (outcome === "refused") requeue(pass, currentPod.queuedPod);
  return true;
}

function takeNextPod(pass: Pass): CurrentPod | undefined {
  const queuedPod = pass.queue[pass.queueHead];
  if (queuedPod === undefined || isQueueExhausted(pass)) return undefined;
  pass.queueHead++;
  return { queuedPod, relaxationLevel: 0 };
}

/** Whether the queue is empty, or has been gone through without anybody finding a place. (02:Q-2) */
export function isQueueExhausted({ currentPod, queue, queueHead }: Pass): boolean {
  if (currentPod !== undefined) return false;
  const next = queue[queueHead];
  return next === undefined || next.queueLengthAtFailure === queue.length - queueHead;
}

function requeue(pass: Pass, queuedPod: QueuedPod): void {
  pass.queue.push(queuedPod);
  queuedPod.queueLengthAtFailure = pass.queue.length - pass.queueHead;
}

/** Goes over the plan for its price once it is complete. Until the last of these steps the plan is the plain one. */
function polishStep(pass: Pass): boolean {
  if (pass.problem.policy.packing !== "polished" || pass.timedOut) return false;
  pass.polish ??= PlanPolisher.polishInSteps(pass);
  return pass.polish.next().done !== true;
}

/** Tries a pod with fewer and fewer of its preferences. (02:Q-5) */
function tryCurrentPod(pass: Pass, currentPod: CurrentPod): "placed" | "refused" | "again" {
  const { queuedPod } = currentPod;
  const { podClass } = queuedPod;
  if (currentPod.relaxationLevel === 0 && isSkipped(pass, podClass)) return "refused";
  const variant = variantAt(podClass, currentPod.relaxationLevel++, pass.variantContext);
  const outcome = variant === undefined ? "exhausted" : tryToPlace(pass, { queuedPod, variant });
  if (outcome === "placed") return "placed";
  if (outcome === "refused") return "again";
  // Out of wishes to drop; or it waits for reserved capacity rather than give up a preference. (02:Q-5)
  pass.placementCountAtFailure.set(podClass, pass.placementCount);
  return "refused";
}

function isSkipped({ problem, placementCountAtFailure, placementCount }: Pass, podClass: PodClass): boolean {
  if (podClass.volumeError !== undefined) return true; // it sits this round out (02 §12.2-7)
  if (podClass.usesDra && problem.policy.ignoreDra) return true;
  // Nothing was placed since a pod like this one failed, so this one fails as well.
  return problem.voluntaryMoves === undefined && placementCountAtFailure.get(podClass) === placementCount;
}

type PlacementOutcome = "placed" | "refused" | "reserved";

/** Machines that exist, then those being planned, then a new one. (02:Q-6) */
function tryToPlace(pass: Pass, podAttempt: PodAttempt): PlacementOutcome {
  if (hasUnsatisfiableTopology(podAttempt.variant)) return "refused";
  if (tryExistingNodes(pass, podAttempt) || tryPlannedNodes(pass, podAttempt)) return "placed";
  return tryNewNode(pass, podAttempt);
}

function tryExistingNodes(pass: Pass, podAttempt: PodAttempt): boolean {
  if (tryNominatedNode(pass, podAttempt)) return true;
  const isVoluntary = pass.problem.voluntaryMoves?.has(namespacedName(podAttempt.queuedPod.pod.metadata)) ?? false;
  const { existingNodes } = pass;
  const { impossibleExistingNodes } = podAttempt.variant;
  for (
    let at = impossibleExistingNodes.nextMissing(0);
    at < existingNodes.length;
    at = impossibleExistingNodes.nextMissing(at + 1)
  ) {
    const existingNode = existingNodes[at] as ExistingNodeState;
    if (isVoluntary && existingNode.node.underConsolidateAfter === true) continue; // (02:Q-7)
    const requirementState = fitOnExistingNode(pass, podAttempt, existingNode);
    if (requirementState === undefined) continue;
    commitToExistingNode(pass, podAttempt, { existingNode, requirementState });
    return true;
  }
  return false;
}

/** Where an earlier round sent it, if that still suits it. */
function tryNominatedNode(pass: Pass, podAttempt: PodAttempt): boolean {
  const { nominatedNodes } = pass.problem;
  if (nominatedNodes === undefined) return false;
  const existingNode = pass.nominatedExistingNodes.get(
    nominatedNodes.get(namespacedName(podAttempt.queuedPod.pod.metadata)) ?? "",
  );
  const requirementState = existingNode && fitOnExistingNode(pass, podAttempt, existingNode);
  if (existingNode === undefined || requirementState === undefined) return false;
  commitToExistingNode(pass, podAttempt, { existingNode, requirementState });
  return true;
}

function tryPlannedNodes(pass: Pass, podAttempt: PodAttempt): boolean {
  const { hostRules, impossiblePlannedNodes } = podAttempt.variant;
  let fit: CandidateFit | undefined;
  const found = pass.plannedNodeOrder.find((index) => {
    const plannedNode = pass.plannedNodes[index];
    if (plannedNode === undefined || impossiblePlannedNodes.has(index)) return false;
    for (const { group, self, podDomains } of hostRules) {
      if (!group.allowsHost(plannedNode.hostIndex, { self, pod: podDomains })) return false;
    }
    pass.candidatesTried++;
    fit = fitOnPlannedNode(pass, podAttempt, candidateOf(plannedNode));
    if (fit === undefined && isRefusedForGood(pass, podAttempt, candidateOf(plannedNode)))
      impossiblePlannedNodes.add(index);
    return fit !== undefined;
  });
  const plannedNode = pass.plannedNodes[found];
  if (plannedNode === undefined || fit === undefined) return false;
  commitToPlannedNode(pass, podAttempt, { plannedNode, fit });
  return true;
}

/** Whether a claim refused for a reason that cannot heal: topology and reservations can. (02 §10.3-2) */
function isRefusedForGood(pass: Pass, podAttempt: PodAttempt, candidate: NodeCandidate): boolean {
  const { variant } = podAttempt;
  if (!toleratesTaintsAndHostname(variant, candidate)) return true;
  // A label the claim lacks becomes one it has once a pod that merely excludes values has joined.
  if (mergeIfCompatible(variant, candidate) === undefined) {
    return candidate.poolTemplate.requirementStates.excludes(candidate.requirementState, variant.incoming);
  }
  // What topology has a hand in may heal; what is left to blame otherwise is size, which only gets worse.
  return variant.domainRules.length === 0 && !pass.refusedByReservation;
}

/** The first pool that takes it. One that would, but for reserved capacity in use, ends the search. (02:Q-22) */
function tryNewNode(pass: Pass, podAttempt: PodAttempt): PlacementOutcome {
  for (const poolTemplate of pass.poolTemplates) {
    const candidate = newNodeCandidate(pass, poolTemplate);
    if (typeof candidate === "string") continue;
    pass.candidatesTried++;
    const fit = fitOnPlannedNode(pass, podAttempt, candidate);
    if (fit !== undefined) {
      commitToNewNode(pass, podAttempt, { candidate, fit });
      return "placed";
    }
    if (pass.refusedByReservation) return "reserved";
  }
  return "refused";
}
