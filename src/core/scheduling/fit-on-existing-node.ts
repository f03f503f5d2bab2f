import { hostPortConflict, hostPortsOf } from "../host-ports.ts";
import { firstUntoleratedTaint } from "../tolerations.ts";
import { volumeLimitExcess } from "../volumes.ts";
import type { PodAttempt } from "./fit-on-planned-node.ts";
import { narrowByTopology } from "./narrow-by-topology.ts";
import type { ExistingNodeState, Pass } from "./pass-state.ts";
import type { RequirementState } from "./requirement-state.ts";
import type { Variant } from "./variants.ts";

/**
 * What a node's requirements would become with the pod on it; undefined: it cannot take the pod. Refusals that cannot
 * change during the pass are remembered. (02 §5.4)
 */
export function fitOnExistingNode(
  pass: Pass,
  podAttempt: PodAttempt,
  existingNode: ExistingNodeState,
): RequirementState | undefined {
  const { queuedPod, variant } = podAttempt;
  if (existingNode.isRemoved) return undefined;
  for (const rule of variant.hostRules) {
    if (rule.group.allowsHost(existingNode.index, rule)) continue;
    if (rule.group.isRefusalFinal) rememberRefusal(pass, variant, existingNode);
    return undefined;
  }
  if (!passesFinalChecks(podAttempt, existingNode)) {
    rememberRefusal(pass, variant, existingNode); // free resources only shrink
    return undefined;
  }
  const mergedState = pass.nodeRequirementStates.merge(existingNode.requirementState, variant.incoming);
  if (mergedState === null) {
    // Not remembered otherwise: a label the node does not have yet can appear, added by a pod with NotIn on that key.
    if (pass.nodeRequirementStates.excludes(existingNode.requirementState, variant.incoming))
      rememberRefusal(pass, variant, existingNode);
    return undefined;
  }
  // Devices that others use may become free again, so this is not remembered.
  if (queuedPod.podClass.usesDra && pass.devices !== undefined)
    if ("reason" in pass.devices.onExistingNode(queuedPod, existingNode)) return undefined;
  const accept = (requirementState: RequirementState): RequirementState => requirementState;
  const narrowing = { variant, requirementStates: pass.nodeRequirementStates, accept, couldAccept: () => true };
  const { volumeAlternatives } = queuedPod.podClass;
  if (volumeAlternatives.length === 0) return narrowByTopology(mergedState, narrowing);
  for (const alternative of volumeAlternatives) {
    if (!(alternative.hostname?.has(existingNode.node.hostname) ?? true)) continue;
    const requirementState = pass.nodeRequirementStates.merge(mergedState, alternative);
    const fit = requirementState === null ? undefined : narrowByTopology(requirementState, narrowing);
    if (fit !== undefined) return fit;
  }
  return undefined;
}

/**
 * The node is not tried again for such pods. What a simulation's own pods caused is undone with them; what the node refuses
 * before it has any holds for every simulation, because none of them gives a node that stays more room.
 */
function rememberRefusal(
  { undo }: Pass,
  { impossibleExistingNodes }: Variant,
  { index, pods }: ExistingNodeState,
): void {
  impossibleExistingNodes.add(index);
  if (undo !== undefined && pods.length > 0) undo.add(() => impossibleExistingNodes.delete(index));
}

/** Checks that can only get stricter during a pass: taints, volumes, ports, resources, hostname. (02:E-1 to E-4) */
function passesFinalChecks({ queuedPod, variant }: PodAttempt, existingNode: ExistingNodeState): boolean {
  const { podClass, pod } = queuedPod;
  if (!hasEnoughResources(existingNode.remainingResources, podClass.requestRow)) return false;
  if (firstUntoleratedTaint(variant.tolerations, existingNode.node.taints) !== undefined) return false;
  if (volumeLimitExcess(existingNode.volumes, podClass.volumes) !== undefined) return false;
  if (podClass.hasHostPorts && hostPortConflict(hostPortsOf(pod), existingNode.hostPorts) !== undefined) return false;
  return variant.hostname?.has(existingNode.node.hostname) ?? true;
}

/** One overcommitted resource blocks the node for all pods. (02:A-9) */
function hasEnoughResources(remainingResources: Float64Array, request: Float64Array): boolean {
  for (let i = 0; i < remainingResources.length; i++) {
    const left = remainingResources[i] as number;
    if (left < 0 || (request[i] as number) > left) return false;
  }
  return true;
}
