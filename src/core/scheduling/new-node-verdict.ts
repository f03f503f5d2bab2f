import { describeRequirementConflicts, requirementConflicts } from "../compatibility.ts";
import { type DeviceRefusal, describeDeviceRefusal } from "../devices/device-refusal.ts";
import type { Requirement } from "../requirement.ts";
import { describeUntoleratedTaints, untoleratedTaints } from "../tolerations.ts";
import { candidateWithDevices } from "./candidate-devices.ts";
import { type CandidateVerdict, requirementsWithHostname } from "./candidate-verdict.ts";
import { newNodeCandidate } from "./commit.ts";
import { fitOnPlannedNode, mergeIfCompatible, type NodeCandidate, type PodAttempt } from "./fit-on-planned-node.ts";
import { instanceTypesVerdict, reservedCapacityVerdict } from "./instance-types-verdict.ts";
import type { Pass, PoolTemplate } from "./pass-state.ts";
import type { RequirementState } from "./requirement-state.ts";
import type { TopologyRule } from "./topology/topology-group.ts";
import { topologyVerdict } from "./topology-verdict.ts";

/**
 * The first check that refuses a new node of the pool. If one of several equally good domains only lacks reserved
 * capacity, the pod waits for it, whatever refuses the others. (02:N-1 to N-3, Y-5)
 */
export function newNodeVerdict(pass: Pass, podAttempt: PodAttempt, poolTemplate: PoolTemplate): CandidateVerdict {
  const { pool } = poolTemplate.nodeClaimTemplate;
  const candidate = newNodeCandidate(pass, poolTemplate);
  if (candidate === "node-limit") {
    return {
      cause: { code: "node-limit", pool },
      text: `node limits have been exhausted for nodepool (NodePool=${pool})`,
    };
  }
  if (candidate === "limits") {
    return {
      cause: { code: "limits", pool },
      text: `all available instance types exceed limits for nodepool (NodePool=${pool})`,
    };
  }
  fitOnPlannedNode(pass, podAttempt, candidate);
  if (pass.refusedByReservation) return reservedCapacityVerdict;
  const requirementState = mergeIfCompatible(podAttempt.variant, candidate);
  if (requirementState === undefined)
    return taintVerdict(podAttempt, poolTemplate) ?? requirementsVerdict(pass, podAttempt, candidate);
  return deviceVerdict(pass, podAttempt, { ...candidate, merged: requirementState });
}

/** Devices come before topology, and those types that have them are left for the checks after it. (02:N-3b, N-3e) */
function deviceVerdict(
  pass: Pass,
  podAttempt: PodAttempt,
  candidate: NodeCandidate & { readonly merged: RequirementState },
): CandidateVerdict {
  const { queuedPod } = podAttempt;
  if (pass.devices === undefined || !queuedPod.podClass.usesDra)
    return volumeAndTopologyVerdict(pass, podAttempt, { ...candidate, requirementState: candidate.merged });
  const withDevices = candidateWithDevices(pass, queuedPod, candidate);
  if ("reason" in withDevices) return deviceRefusalVerdict(withDevices);
  const { requirementState, columns } = withDevices;
  const all = volumeAndTopologyVerdict(pass, podAttempt, { ...candidate, requirementState });
  if (all.cause.code !== "reserved-capacity") return all;
  // Without devices some type would do.
  const some = volumeAndTopologyVerdict(pass, podAttempt, { ...candidate, requirementState, columns });
  return some.cause.code === "reserved-capacity" ? some : deviceRefusalVerdict({ reason: "instance-types" });
}

function deviceRefusalVerdict(devices: DeviceRefusal): CandidateVerdict {
  return { cause: { code: "dynamic-resources", devices }, text: describeDeviceRefusal(devices) };
}

function taintVerdict({ variant }: PodAttempt, poolTemplate: PoolTemplate): CandidateVerdict | undefined {
  const found = untoleratedTaints(variant.tolerations, poolTemplate.nodeClaimTemplate.taints);
  const [taint] = found;
  return taint === undefined ? undefined : { cause: { code: "taint", taint }, text: describeUntoleratedTaints(found) };
}

function requirementsVerdict(pass: Pass, { variant }: PodAttempt, candidate: NodeCandidate): CandidateVerdict {
  const incoming =
    variant.hostname === undefined
      ? variant.incoming.requirements
      : variant.incoming.requirements.add(variant.hostname);
  const found = requirementConflicts(requirementsWithHostname(candidate), incoming, {
    allowUndefined: pass.problem.labelPolicy.wellKnown,
  });
  return {
    cause: { code: "requirements", conflicts: found },
    text: `incompatible requirements, ${describeRequirementConflicts(found)}`,
  };
}

/** Volumes, topology, types and reservations: the verdict on the last of the volume alternatives. (02:N-3) */
function volumeAndTopologyVerdict(pass: Pass, podAttempt: PodAttempt, candidate: NodeCandidate): CandidateVerdict {
  const last = podAttempt.queuedPod.podClass.volumeAlternatives.at(-1);
  if (last === undefined) return narrowedVerdict(pass, podAttempt, candidate);
  const wanted = last.hostname === undefined ? last.requirements : last.requirements.add(last.hostname);
  const found = requirementConflicts(requirementsWithHostname(candidate), wanted, {
    allowUndefined: pass.problem.labelPolicy.wellKnown,
  });
  const requirementState = candidate.poolTemplate.requirementStates.merge(candidate.requirementState, last);
  if (found.length === 0 && requirementState !== null)
    return narrowedVerdict(pass, podAttempt, { ...candidate, requirementState });
  return {
    cause: { code: "volume-requirements", conflicts: found },
    text: `incompatible volume requirements, ${describeRequirementConflicts(found)}`,
  };
}

/** If several domains are equally good, the first decides the message. (02 §12.1-3) */
function narrowedVerdict(pass: Pass, podAttempt: PodAttempt, candidate: NodeCandidate): CandidateVerdict {
  const combination: Requirement[] = [];
  for (const rule of podAttempt.variant.rules) {
    if (rule.group.isDormant) continue;
    const choice = topologyChoice(pass, rule, candidate);
    if (choice === undefined) return topologyVerdict(pass, rule, candidate);
    combination.push(...choice);
  }
  return combinationVerdict(pass, podAttempt, candidate, combination);
}

/** Domains chosen by several rules are merged and checked together: contradicting ones leave no value. (02:N-3c) */
function combinationVerdict(
  pass: Pass,
  podAttempt: PodAttempt,
  candidate: NodeCandidate,
  combination: readonly Requirement[],
): CandidateVerdict {
  const { wellKnown } = pass.problem.labelPolicy;
  const node = requirementsWithHostname(candidate);
  const isLacking = ({ key }: Requirement): boolean => !node.has(key) && !wellKnown.has(key);
  const asked = combination.filter(isLacking).reduce((all, one) => all.replace(one), node.add(...combination));
  const found = requirementConflicts(node, asked, { allowUndefined: wellKnown });
  if (found.length > 0)
    return { cause: { code: "requirements", conflicts: found }, text: describeRequirementConflicts(found) };
  const requirementState = candidate.poolTemplate.requirementStates.of(
    candidate.requirementState.requirements.add(...combination),
  );
  return instanceTypesVerdict(pass, podAttempt, { ...candidate, requirementState });
}

/** The requirements a rule would add to the candidate; undefined: it allows none. */
function topologyChoice(pass: Pass, rule: TopologyRule, candidate: NodeCandidate): readonly Requirement[] | undefined {
  const { group } = rule;
  if (group.isHostname) return group.allowsHost(candidate.hostIndex, rule) ? [] : undefined;
  const [first] = group.domainOptions(rule, candidate.requirementState.get(group.spec.key));
  return first === undefined ? undefined : [pass.table.get(first)];
}
