import { resources, type Taint } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import { hostPortsOf } from "../host-ports.ts";
import type { NodeVolumes } from "../volumes.ts";
import { type NodeCandidate, type PodAttempt, placeholderHostname } from "./fit-on-planned-node.ts";
import type { PassDevices } from "./pass-devices.ts";
import type {
  CandidateFit,
  CountingGroups,
  ExistingNodeState,
  Pass,
  PlannedNodeState,
  PoolTemplate,
  QueuedPod,
} from "./pass-state.ts";
import type { PodClass } from "./pod-class.ts";
import type { RequirementState } from "./requirement-state.ts";
import type { TopologyGroup } from "./topology/topology-group.ts";

/** Adds a pod to an existing node. */
export function commitToExistingNode(
  pass: Pass,
  { queuedPod }: PodAttempt,
  { existingNode, requirementState }: { existingNode: ExistingNodeState; requirementState: RequirementState },
): void {
  saveExistingNode(pass, existingNode);
  const { requestRow } = queuedPod.podClass;
  for (let i = 0; i < requestRow.length; i++) (existingNode.remainingResources[i] as number) -= requestRow[i] as number;
  existingNode.requirementState = requirementState;
  existingNode.pods.push(queuedPod);
  if (queuedPod.podClass.hasHostPorts)
    existingNode.hostPorts = [...existingNode.hostPorts, ...hostPortsOf(queuedPod.pod)];
  if (queuedPod.podClass.volumes.size > 0)
    existingNode.volumes = withAttachedVolumes(existingNode.volumes, queuedPod.podClass.volumes);
  if (queuedPod.podClass.usesDra && pass.devices !== undefined) takeDevices(pass.devices, queuedPod, existingNode);
  recordTopology(pass, queuedPod, placeOf(existingNode));
}

/** The node has room and the devices, so the same search finds them again. */
function takeDevices(devices: PassDevices, queuedPod: QueuedPod, existingNode: ExistingNodeState): void {
  const allocation = devices.onExistingNode(queuedPod, existingNode);
  if ("reason" in allocation) throw new Error(`node ${existingNode.node.name} has lost its devices`);
  devices.commit(existingNode.index, allocation, allocation.types);
}

/** What a node was before its first pod of a simulation. */
function saveExistingNode({ undo, touchedNodes }: Pass, existingNode: ExistingNodeState): void {
  if (undo === undefined || touchedNodes.has(existingNode)) return;
  touchedNodes.add(existingNode);
  const { requirementState, hostPorts, volumes } = existingNode;
  const remainingResources = existingNode.remainingResources.slice();
  undo.add(() => {
    Object.assign(existingNode, { requirementState, hostPorts, volumes });
    existingNode.remainingResources.set(remainingResources);
    existingNode.pods.length = 0;
    touchedNodes.delete(existingNode);
  });
}

/** Adds a pod to a planned node. */
export function commitToPlannedNode(
  pass: Pass,
  podAttempt: PodAttempt,
  { plannedNode, fit }: { plannedNode: PlannedNodeState; fit: CandidateFit },
): void {
  addPodToPlannedNode(pass, podAttempt, plannedNode, fit);
  pass.plannedNodeOrder.podAdded(plannedNode.index);
}

/** Creates a planned node with its first pod and charges the pool's limits. (02:Q-23, H-3) */
export function commitToNewNode(
  pass: Pass,
  podAttempt: PodAttempt,
  { candidate, fit }: { candidate: NodeCandidate; fit: CandidateFit },
): void {
  const plannedNode: PlannedNodeState = {
    index: pass.plannedNodes.length,
    poolTemplate: candidate.poolTemplate,
    hostIndex: candidate.hostIndex,
    hostname: candidate.hostname,
    requirementState: fit.requirementState,
    columns: fit.columns,
    initialColumns: fit.columns,
    used: pass.space.zeroRow(),
    hostPorts: [],
    pods: [],
    minValuesRelaxed: fit.minValuesRelaxed,
  };
  pass.plannedNodes.push(plannedNode);
  addPodToPlannedNode(pass, podAttempt, plannedNode, fit);
  pass.plannedNodeOrder.add(plannedNode.index);
  chargeLimits(pass, plannedNode);
}

/** A new node of the pool as a candidate, or which limit forbids it. (02:Q-21, H-2) */
export function newNodeCandidate(pass: Pass, poolTemplate: PoolTemplate): NodeCandidate | "node-limit" | "limits" {
  if (poolTemplate.remainingLimits.get(resources.nodes) === 0) return "node-limit";
  const columns = columnsWithinLimits(poolTemplate);
  if (columns.isEmpty()) return "limits";
  const index = pass.plannedNodes.length;
  return {
    poolTemplate,
    hostIndex: pass.existingNodes.length + index,
    hostname: placeholderHostname(index),
    requirementState: poolTemplate.initialState,
    columns,
    used: pass.space.zeroRow(),
    hostPorts: [],
    isNew: true,
  };
}

/** Columns whose capacity fits into the remaining limits. A missing amount, as of `nodes`, is zero. (02:H-2) */
function columnsWithinLimits({ typeTable, remainingLimits, columns }: PoolTemplate): Bitset {
  const tight = [...remainingLimits].filter(([name, left]) => left < typeTable.largestCapacity(columns, name));
  if (tight.length === 0 && [...remainingLimits.values()].every((left) => left >= 0)) return columns;
  const within = Bitset.empty(columns.size);
  columns.forEach((column) => {
    const typeIndex = typeTable.columns[column]?.typeIndex ?? 0;
    if ([...remainingLimits].every(([name, left]) => typeTable.capacityOf(typeIndex, name) <= left)) within.add(column);
  });
  return within;
}

/** Charges the largest type left, and one node. (02:H-3, 02 §12.2-2) */
function chargeLimits({ undo }: Pass, { poolTemplate, columns }: PlannedNodeState): void {
  const { remainingLimits, typeTable } = poolTemplate;
  for (const [name, left] of remainingLimits) {
    remainingLimits.set(name, left - (name === resources.nodes ? 1 : typeTable.largestCapacity(columns, name)));
    undo?.add(() => remainingLimits.set(name, left));
  }
}

function addPodToPlannedNode(
  pass: Pass,
  podAttempt: PodAttempt,
  plannedNode: PlannedNodeState,
  fit: CandidateFit,
): void {
  const { queuedPod } = podAttempt;
  const { requestRow } = queuedPod.podClass;
  for (let i = 0; i < requestRow.length; i++) (plannedNode.used[i] as number) += requestRow[i] as number;
  plannedNode.requirementState = fit.requirementState;
  plannedNode.columns = fit.columns;
  plannedNode.pods.push(queuedPod);
  queuedPod.placedVariant = podAttempt.variant;
  if (queuedPod.podClass.hasHostPorts)
    plannedNode.hostPorts = [...plannedNode.hostPorts, ...hostPortsOf(queuedPod.pod)];
  if (fit.devices !== undefined) {
    const types = plannedNode.poolTemplate.typeTable.typesIn(fit.columns);
    pass.devices?.commit(plannedNode.hostIndex, fit.devices, new Set(types.map(({ name }) => name)));
  }
  if (fit.reservations !== undefined) pass.reservations.reserveExactly(plannedNode.hostIndex, fit.reservations);
  recordTopology(pass, queuedPod, placeOf(plannedNode));
}

interface PodPlace {
  readonly requirementState: RequirementState;
  readonly hostIndex: number;
  readonly hostname: string;
  readonly taints: readonly Taint[];
}

/** Counts the pod in every group that selects it. (02:X-40) */
function recordTopology(pass: Pass, { podClass }: QueuedPod, place: PodPlace): void {
  pass.placementCount++;
  const { groups, inverseGroups } = countingGroupsOf(pass, podClass);
  const { hostname, taints } = place;
  for (const group of groups) {
    const { requirements } = place.requirementState;
    if (group.spec.filter.matches({ requirements, hostname, taints }))
      countInGroup(pass, group, place, group.spec.kind === "anti-affinity");
  }
  for (const group of inverseGroups) countInGroup(pass, group, place, true);
}

/** Anti-affinity counts every domain the pod might be in; other kinds only a domain that is certain. */
function countInGroup(
  pass: Pass,
  group: TopologyGroup,
  { requirementState, hostIndex, hostname }: PodPlace,
  everyDomain: boolean,
): void {
  if (group.isHostname) {
    group.recordHost(hostname, hostIndex);
    pass.undo?.add(() => group.unrecordHost(hostname, hostIndex));
    return;
  }
  const id = requirementState.get(group.spec.key);
  if (id === undefined) return;
  const requirement = pass.table.get(id);
  if (requirement.complement || !(everyDomain || requirement.values.size === 1)) return;
  for (const domain of requirement.values) {
    const domainCount = group.domains.length;
    group.record(domain);
    pass.undo?.add(() => {
      group.unrecord(domain);
      group.unregisterFrom(domainCount);
    });
  }
}

/**
 * Counts the pods of this pass in groups that relaxation has made since: a group must know every pod it selects, or a
 * later pod is put beside too many of them. (02:X-10)
 */
export function countPlacedPods(pass: Pass): void {
  const { groups } = pass.topology;
  for (; pass.countedGroups < groups.length; pass.countedGroups++) {
    const group = groups[pass.countedGroups] as TopologyGroup;
    const isSelected = new Map<PodClass, boolean>();
    for (const host of [...pass.existingNodes, ...pass.plannedNodes]) {
      const place = placeOf(host);
      const { hostname, taints } = place;
      if (!group.spec.filter.matches({ requirements: place.requirementState.requirements, hostname, taints })) continue;
      for (const { podClass } of host.pods) {
        const selects = isSelected.get(podClass) ?? group.selects(podClass.namespace, podClass.labels);
        isSelected.set(podClass, selects);
        if (selects) countInGroup(pass, group, place, group.spec.kind === "anti-affinity");
      }
    }
  }
}

function placeOf(host: ExistingNodeState | PlannedNodeState): PodPlace {
  const { requirementState } = host;
  if ("node" in host) {
    const { hostname, taints } = host.node;
    return { requirementState, hostIndex: host.index, hostname, taints };
  }
  const { hostIndex, hostname, poolTemplate } = host;
  return { requirementState, hostIndex, hostname, taints: poolTemplate.nodeClaimTemplate.taints };
}

/** Relaxation can add groups: those not checked yet are checked now. */
export function countingGroupsOf(pass: Pass, podClass: PodClass): CountingGroups {
  const countingGroups = pass.countingGroups.get(podClass);
  if (countingGroups === undefined) throw new Error(`pod class ${podClass.index} is not part of this pass`);
  const { groups } = pass.topology;
  for (; countingGroups.groupsSeen < groups.length; countingGroups.groupsSeen++) {
    const group = groups[countingGroups.groupsSeen] as TopologyGroup;
    if (group.selects(podClass.namespace, podClass.labels)) countingGroups.groups.push(group);
  }
  return countingGroups;
}

function withAttachedVolumes(volumes: NodeVolumes, added: ReadonlyMap<string, ReadonlySet<string>>): NodeVolumes {
  const attached = new Map(volumes.attached);
  for (const [driver, keys] of added) attached.set(driver, new Set([...(attached.get(driver) ?? []), ...keys]));
  return { attached, limits: volumes.limits };
}
