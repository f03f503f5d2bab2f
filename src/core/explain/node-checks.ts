import { labels } from "../../api/labels.ts";
import { requirementConflicts } from "../compatibility.ts";
import { hostPortConflict, hostPortsOf } from "../host-ports.ts";
import { Requirement } from "../requirement.ts";
import type { PodAttempt } from "../scheduling/fit-on-planned-node.ts";
import type { ExistingNodeState, Pass } from "../scheduling/pass-state.ts";
import type { TopologyGroup, TopologyRule } from "../scheduling/topology/topology-group.ts";
import { formatTaint, untoleratedTaints } from "../tolerations.ts";
import { volumeLimitExcess } from "../volumes.ts";
import type { FailedCheck, NodeFinding, RefusalReason } from "./explanation.ts";
import { labelReasons } from "./reasons.ts";

/** Every check the node fails after the pass, each on its own. (02 §5.4) */
export function findNodeFailures(pass: Pass, podAttempt: PodAttempt, existingNode: ExistingNodeState): NodeFinding {
  const checks = [
    ...failedChecks("taints", taintReasons(podAttempt, existingNode)),
    ...failedChecks("volume-limits", volumeLimitReasons(podAttempt, existingNode)),
    ...failedChecks("host-ports", portReasons(podAttempt, existingNode)),
    ...failedChecks("resources", resourceReasons(pass, podAttempt, existingNode)),
    ...failedChecks("requirements", requirementReasons(podAttempt, existingNode)),
    ...failedChecks("topology", [
      ...volumeReasons(podAttempt, existingNode),
      ...topologyReasons(pass, podAttempt, existingNode),
    ]),
    ...failedChecks("devices", deviceReasons(pass, podAttempt, existingNode)),
  ];
  return { node: existingNode.node.name, checks };
}

function failedChecks(check: FailedCheck["check"], reasons: readonly RefusalReason[]): readonly FailedCheck[] {
  return reasons.map((reason) => ({ check, reason }));
}

function deviceReasons(
  { devices }: Pass,
  { queuedPod }: PodAttempt,
  existingNode: ExistingNodeState,
): readonly RefusalReason[] {
  if (devices === undefined || !queuedPod.podClass.usesDra) return [];
  const found = devices.onExistingNode(queuedPod, existingNode);
  return "reason" in found ? [{ code: "dynamic-resources", devices: found }] : [];
}

function taintReasons({ variant }: PodAttempt, { node }: ExistingNodeState): readonly RefusalReason[] {
  return untoleratedTaints(variant.tolerations, node.taints).map((taint) => ({
    code: "taint",
    taint: formatTaint(taint),
  }));
}

function volumeLimitReasons({ queuedPod }: PodAttempt, { volumes }: ExistingNodeState): readonly RefusalReason[] {
  const excess = volumeLimitExcess(volumes, queuedPod.podClass.volumes);
  return excess === undefined
    ? []
    : [{ code: "volume-limit", driver: excess.driver, limit: excess.limit, wanted: excess.count }];
}

function portReasons({ queuedPod }: PodAttempt, existingNode: ExistingNodeState): readonly RefusalReason[] {
  const found = hostPortConflict(hostPortsOf(queuedPod.pod), existingNode.hostPorts);
  if (found === undefined) return [];
  const { port, protocol } = found.wanted;
  return [{ code: "host-port", port, protocol, owner: found.existing.owner }];
}

/** DaemonSet pods the node still lacks are subtracted already. */
function resourceReasons(
  { space }: Pass,
  { queuedPod }: PodAttempt,
  { remainingResources }: ExistingNodeState,
): readonly RefusalReason[] {
  const asked = queuedPod.podClass.requestRow;
  const written = space.toResources(asked, () => true);
  const left = space.toResources(remainingResources, () => true);
  return space.dimensions.flatMap(({ name }, index): readonly RefusalReason[] => {
    const [wanted, availableAmount] = [asked[index] ?? 0, remainingResources[index] ?? 0];
    if (availableAmount >= 0 && wanted <= availableAmount) return [];
    const [askedText = "0", available = "0"] = [written[name], left[name]].map((one) => one?.canonical());
    return [{ code: "resources", resource: name, asked: askedText, available }];
  });
}

function requirementReasons(
  { variant }: PodAttempt,
  { requirementState, node }: ExistingNodeState,
): readonly RefusalReason[] {
  const { hostname, incoming } = variant;
  const nodeRequirements = requirementState.requirements.add(Requirement.in(labels.hostname, [node.hostname]));
  const asked = hostname === undefined ? incoming.requirements : incoming.requirements.add(hostname);
  return labelReasons("requirements", requirementConflicts(nodeRequirements, asked));
}

/** One alternative has to match; if none does, the last one gives the reason. */
function volumeReasons({ queuedPod }: PodAttempt, { requirementState }: ExistingNodeState): readonly RefusalReason[] {
  const all = queuedPod.podClass.volumeAlternatives.map(({ requirements }) =>
    requirementConflicts(requirementState.requirements, requirements),
  );
  const last = all.at(-1);
  return last === undefined || all.some((found) => found.length === 0) ? [] : labelReasons("volume-requirements", last);
}

function topologyReasons(
  pass: Pass,
  { variant }: PodAttempt,
  existingNode: ExistingNodeState,
): readonly RefusalReason[] {
  return variant.rules
    .filter((rule) => !isRuleSatisfied(rule, existingNode))
    .map(({ group }) => {
      const { kind, key } = group.spec;
      const id = existingNode.requirementState.get(key);
      const domain = group.isHostname
        ? existingNode.node.hostname
        : id === undefined
          ? undefined
          : pass.table.get(id).singleValue;
      const counts = domain === undefined ? {} : { [domain]: podsInDomain(group, domain) };
      return { code: "topology", kind, key, counts };
    });
}

function isRuleSatisfied(rule: TopologyRule, { index, requirementState }: ExistingNodeState): boolean {
  const { group } = rule;
  if (group.isHostname) return group.allowsHost(index, rule);
  return group.domainOptions(rule, requirementState.get(group.spec.key)).length > 0;
}

function podsInDomain(group: TopologyGroup, domain: string): number {
  if (group.isHostname) return group.hostnames.get(domain) ?? 0;
  return group.counts[group.domains.indexOf(domain)] ?? 0;
}
