import { labels } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import type { DeviceAllocation } from "../devices/device-allocator.ts";
import type { DeviceRefusal } from "../devices/device-refusal.ts";
import { Requirement } from "../requirement.ts";
import { deviceRequirementsRefusal } from "./pass-devices.ts";
import type { Pass, PoolTemplate, QueuedPod } from "./pass-state.ts";
import type { RequirementState } from "./requirement-state.ts";

/** A planned or new node, and its requirements merged with those of the pod. */
interface MergedCandidate {
  readonly poolTemplate: PoolTemplate;
  readonly hostIndex: number;
  readonly hostname: string;
  readonly requirementState: RequirementState;
  readonly columns: Bitset;
  readonly merged: RequirementState;
}

/** A candidate after the search for a pod's devices. */
interface CandidateDevices {
  readonly devices: DeviceAllocation;
  /** With what the devices require. */
  readonly requirementState: RequirementState;
  /** Of types that have the devices. */
  readonly columns: Bitset;
}

/**
 * Devices for the pod on a candidate whose requirements are merged with the pod's. As upstream, the search itself knows
 * only the node: devices it finds where the pod must not be refuse the pod. (02:N-3b)
 */
export function candidateWithDevices(
  pass: Pass,
  queuedPod: QueuedPod,
  { poolTemplate, hostIndex, hostname, requirementState: own, columns, merged }: MergedCandidate,
): CandidateDevices | DeviceRefusal {
  if (pass.devices === undefined) return { reason: "ignored" };
  const host = Requirement.in(labels.hostname, [hostname]);
  const devices = pass.devices.onCandidate(queuedPod, {
    hostIndex,
    requirements: own.requirements.add(host),
    types: poolTemplate.typeTable.typesIn(columns),
  });
  if ("reason" in devices) return devices;
  const refusal = deviceRequirementsRefusal(merged.requirements.add(host), devices, pass.problem);
  if (refusal !== undefined) return refusal;
  const { requirementStates, typeTable } = poolTemplate;
  const wanted = pass.table.setOf(devices.requirements.without(labels.hostname));
  const requirementState = wanted.members.length === 0 ? merged : requirementStates.merge(merged, wanted);
  if (requirementState === null) return { reason: "no-devices" };
  const left = Bitset.empty(columns.size);
  columns.forEach((column) => {
    const type = typeTable.types[typeTable.columns[column]?.typeIndex ?? 0];
    if (type !== undefined && devices.types.has(type.name)) left.add(column);
  });
  return { devices, requirementState, columns: left };
}
