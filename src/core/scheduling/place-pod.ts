import { namespacedName } from "../../api/object.ts";
import { commitToExistingNode, commitToNewNode, commitToPlannedNode, newNodeCandidate } from "./commit.ts";
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
import type { CandidateFit, ExistingNodeState, Pass } from "./pass-state.ts";

/** `reserved`: the pod waits for reserved capacity that is in use. */
type PlacementOutcome = "placed" | "refused" | "reserved";

/** Tries existing nodes, then planned nodes, then a new node. (02:Q-6) */
export function placePod(pass: Pass, podAttempt: PodAttempt): PlacementOutcome {
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
    let index = impossibleExistingNodes.nextMissing(0);
    index < existingNodes.length;
    index = impossibleExistingNodes.nextMissing(index + 1)
  ) {
    const existingNode = existingNodes[index] as ExistingNodeState;
    // Within consolidateAfter a node does not receive pods that move voluntarily. (02:Q-7)
    if (isVoluntary && existingNode.node.underConsolidateAfter === true) continue;
    const requirementState = fitOnExistingNode(pass, podAttempt, existingNode);
    if (requirementState === undefined) continue;
    commitToExistingNode(pass, podAttempt, { existingNode, requirementState });
    return true;
  }
  return false;
}

/** Tries the node an earlier round nominated for the pod. */
export function tryNominatedNode(pass: Pass, podAttempt: PodAttempt): boolean {
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
    for (const rule of hostRules) if (!rule.group.allowsHost(plannedNode.hostIndex, rule)) return false;
    pass.candidatesTried++;
    fit = fitOnPlannedNode(pass, podAttempt, candidateOf(plannedNode));
    if (fit === undefined && isRefusedForGood(pass, podAttempt, candidateOf(plannedNode))) {
      impossiblePlannedNodes.add(index);
      pass.undo?.add(() => impossiblePlannedNodes.delete(index));
    }
    return fit !== undefined;
  });
  const plannedNode = pass.plannedNodes[found];
  if (plannedNode === undefined || fit === undefined) return false;
  commitToPlannedNode(pass, podAttempt, { plannedNode, fit });
  return true;
}

/** Whether it refuses such pods for the rest of the pass; topology and reservations can change. (02 §10.3-2) */
function isRefusedForGood(pass: Pass, podAttempt: PodAttempt, candidate: NodeCandidate): boolean {
  const { variant } = podAttempt;
  if (!toleratesTaintsAndHostname(variant, candidate)) return true;
  // A label the node does not have yet can appear: a pod with NotIn on that key adds it.
  if (mergeIfCompatible(variant, candidate) === undefined) {
    return candidate.poolTemplate.requirementStates.excludes(candidate.requirementState, variant.incoming);
  }
  // Devices that others use may become free again.
  if (pass.devices !== undefined && podAttempt.queuedPod.podClass.usesDra) return false;
  // Topology counts change. Without topology only size can have refused, and free resources only shrink.
  return variant.domainRules.length === 0 && !pass.refusedByReservation;
}

/** The first pool that accepts the pod. One that only lacks reserved capacity ends the search. (02:Q-22) */
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
