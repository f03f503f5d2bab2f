import type { Bitset } from "../../util/bitset.ts";
import { type HostPort, hostPortConflict, hostPortsOf } from "../host-ports.ts";
import { offeringCapacityType, offeringReservationId } from "../instance-type.ts";
import { checkMinValues } from "../min-values.ts";
import { firstUntoleratedTaint } from "../tolerations.ts";
import { candidateWithDevices } from "./candidate-devices.ts";
import { narrowByTopology } from "./narrow-by-topology.ts";
import type { CandidateFit, Pass, PlannedNodeState, PoolTemplate, QueuedPod } from "./pass-state.ts";
import type { RequirementState } from "./requirement-state.ts";
import type { Variant } from "./variants.ts";

/** A pod with one of its variants, to be tried on candidates. */
export interface PodAttempt {
  readonly queuedPod: QueuedPod;
  readonly variant: Variant;
}

/** A planned node, or a new node of a pool, to try a pod on. */
export interface NodeCandidate {
  readonly poolTemplate: PoolTemplate;
  readonly hostIndex: number;
  readonly hostname: string;
  readonly requirementState: RequirementState;
  readonly columns: Bitset;
  readonly used: Float64Array;
  readonly hostPorts: readonly HostPort[];
  readonly isNew: boolean;
}

/** What the candidate would become with the pod on it; undefined: it cannot take the pod. (02:N-1 to N-3) */
export function fitOnPlannedNode(
  pass: Pass,
  { queuedPod, variant }: PodAttempt,
  candidate: NodeCandidate,
): CandidateFit | undefined {
  const { hostIndex } = candidate;
  pass.refusedByReservation = false;
  for (const rule of variant.hostRules) if (!rule.group.allowsHost(hostIndex, rule)) return undefined;
  const mergedState = mergeIfCompatible(variant, candidate);
  if (mergedState === undefined) return undefined;
  const ports = queuedPod.podClass.hasHostPorts ? hostPortsOf(queuedPod.pod) : [];
  if (hostPortConflict(ports, candidate.hostPorts) !== undefined) return undefined;
  if (queuedPod.podClass.usesDra && pass.devices !== undefined) {
    const withDevices = candidateWithDevices(pass, queuedPod, { ...candidate, merged: mergedState });
    if ("reason" in withDevices) return undefined;
    const { requirementState, columns, devices } = withDevices;
    const fit = narrowCandidate(
      pass,
      { queuedPod, variant },
      { ...candidate, columns },
      { mergedState: requirementState, ports },
    );
    return fit && { ...fit, devices };
  }
  return narrowCandidate(pass, { queuedPod, variant }, candidate, { mergedState, ports });
}

/** Volumes, topology, types and reservations. (02:N-3) */
function narrowCandidate(
  pass: Pass,
  { queuedPod, variant }: PodAttempt,
  candidate: NodeCandidate,
  { mergedState, ports }: { readonly mergedState: RequirementState; readonly ports: readonly HostPort[] },
): CandidateFit | undefined {
  const { requirementStates } = candidate.poolTemplate;
  const narrowing = {
    variant,
    requirementStates,
    accept: (requirementState: RequirementState) =>
      finishFit(pass, { queuedPod, variant }, { ...candidate, requirementState }, ports),
    couldAccept: (requirementState: RequirementState) =>
      fittingColumns(pass, { queuedPod, variant }, { candidate: { ...candidate, requirementState }, ports }) !==
      undefined,
  };
  const { volumeAlternatives } = queuedPod.podClass;
  if (volumeAlternatives.length === 0) return narrowByTopology(mergedState, narrowing);
  for (const alternative of volumeAlternatives) {
    pass.refusedByReservation = false;
    if (!(alternative.hostname?.has(candidate.hostname) ?? true)) continue;
    const requirementState = requirementStates.merge(mergedState, alternative);
    const fit = requirementState === null ? undefined : narrowByTopology(requirementState, narrowing);
    if (fit !== undefined) return fit;
  }
  return undefined;
}

/** The merged requirements; undefined: taints, hostname or requirements refuse the pod. (02:N-1, N-2) */
export function mergeIfCompatible(variant: Variant, candidate: NodeCandidate): RequirementState | undefined {
  if (!toleratesTaintsAndHostname(variant, candidate)) return undefined;
  return candidate.poolTemplate.requirementStates.merge(candidate.requirementState, variant.incoming) ?? undefined;
}

/** Checks taints and hostname, which do not change during a pass. */
export function toleratesTaintsAndHostname(variant: Variant, { poolTemplate, hostname }: NodeCandidate): boolean {
  return toleratesPoolTaints(variant, poolTemplate) && (variant.hostname?.has(hostname) ?? true);
}

function toleratesPoolTaints(variant: Variant, poolTemplate: PoolTemplate): boolean {
  const known = variant.toleratedTemplates.get(poolTemplate.index);
  if (known !== undefined) return known;
  const result = firstUntoleratedTaint(variant.tolerations, poolTemplate.nodeClaimTemplate.taints) === undefined;
  variant.toleratedTemplates.set(poolTemplate.index, result);
  return result;
}

/** Checks instance types, minValues and reservations once topology has narrowed the requirements. (02:N-3d to N-3f) */
function finishFit(
  pass: Pass,
  podAttempt: PodAttempt,
  candidate: NodeCandidate,
  ports: readonly HostPort[],
): CandidateFit | undefined {
  const columns = fittingColumns(pass, podAttempt, { candidate, ports });
  if (columns === undefined) return undefined;
  const minValuesFit = enforceMinValues(pass, candidate, columns);
  if (minValuesFit === undefined) return undefined;
  const reservations = offeringsToReserve(pass, {
    ...candidate,
    requirementState: minValuesFit.requirementState,
    columns,
  });
  if (reservations === "unavailable") {
    pass.refusedByReservation = true;
    return undefined;
  }
  return { ...minValuesFit, columns, reservations };
}

/** Columns that match, have an available offering, and are large enough for the pods and their daemons. (02:F-1) */
function fittingColumns(
  pass: Pass,
  { queuedPod }: PodAttempt,
  {
    candidate: { poolTemplate, requirementState, columns, used },
    ports,
  }: { candidate: NodeCandidate; ports: readonly HostPort[] },
): Bitset | undefined {
  const { requestRow } = queuedPod.podClass;
  const { scratch } = pass;
  let found: Bitset | undefined;
  for (const group of poolTemplate.daemonGroups) {
    if (hostPortConflict(ports, group.hostPorts) !== undefined) continue;
    for (let i = 0; i < scratch.length; i++)
      scratch[i] = (used[i] as number) + (requestRow[i] as number) + (group.overheadRow[i] as number);
    const fitting = columns.intersection(requirementState.instanceTypeOptions.columns);
    if (poolTemplate.daemonGroups.length > 1) fitting.and(group.columns);
    poolTemplate.typeTable.keepFitting(fitting, scratch);
    found = found === undefined ? fitting : found.or(fitting);
  }
  return found === undefined || found.isEmpty() ? undefined : found;
}

/** minValues must hold for the types left; for a new node under BestEffort they are lowered instead. (02:F-2) */
function enforceMinValues(
  pass: Pass,
  { poolTemplate, requirementState, isNew }: NodeCandidate,
  columns: Bitset,
): Pick<CandidateFit, "requirementState" | "minValuesRelaxed"> | undefined {
  if (!requirementState.hasMinValues) return { requirementState, minValuesRelaxed: false };
  const outcome = checkMinValues(poolTemplate.typeTable.typesIn(columns), requirementState.requirements);
  if (outcome.kind === "satisfied") return { requirementState, minValuesRelaxed: false };
  if (!isNew || pass.problem.policy.minValues !== "BestEffort") return undefined;
  let { requirements } = requirementState;
  for (const [key, count] of outcome.achieved)
    requirements = requirements.replace(requirements.get(key).withMinValues(count));
  return { requirementState: poolTemplate.requirementStates.of(requirements), minValuesRelaxed: true };
}

/** Reservations to take; undefined: there are none; unavailable: it needs one and none is left. (02:Y-2, Y-3) */
function offeringsToReserve(
  pass: Pass,
  { poolTemplate, hostIndex, requirementState, columns }: NodeCandidate,
): ReadonlySet<string> | undefined | "unavailable" {
  const { reservations, problem } = pass;
  if (reservations.isEmpty) return undefined;
  const reservationIds = new Set<string>();
  let isCompatible = false;
  for (const { column, offering } of poolTemplate.typeTable.offeringsIn(
    poolTemplate.typeTable.offeringsMatching(requirementState.byKey),
  )) {
    const id = offeringCapacityType(offering) === "reserved" ? offeringReservationId(offering) : undefined;
    if (
      id === undefined ||
      !poolTemplate.typeTable.hasType(columns, poolTemplate.typeTable.columns[column]?.typeIndex ?? 0)
    )
      continue;
    isCompatible = true;
    if (reservations.canReserve(hostIndex, id)) reservationIds.add(id);
  }
  if (problem.policy.reservedMode === "Strict") {
    if (isCompatible && reservationIds.size === 0) return "unavailable";
    if (reservations.reservedBy(hostIndex).size > 0 && reservationIds.size === 0) return "unavailable";
  }
  return reservationIds;
}

/** A planned node as a candidate. */
export function candidateOf({
  poolTemplate,
  hostIndex,
  hostname,
  requirementState,
  columns,
  used,
  hostPorts,
}: PlannedNodeState): NodeCandidate {
  return { poolTemplate, hostIndex, hostname, requirementState, columns, used, hostPorts, isNew: false };
}

/** The hostname of a planned node during the pass. (02:Q-21) */
export function placeholderHostname(plannedNode: number): string {
  return `hostname-placeholder-${String(plannedNode + 1).padStart(4, "0")}`;
}
