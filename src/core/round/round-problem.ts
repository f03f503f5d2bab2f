import type { Pod } from "../../api/kubernetes/pod.ts";
import type { KubeObject } from "../../api/object.ts";
import type { DeviceObjects } from "../devices/device-allocator.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import type { ClusterSnapshot } from "./cluster-snapshot.ts";
import { selectorOwners } from "./selector-owners.ts";

export interface RoundProblemSource
  extends Pick<SchedulingProblem, "pods" | "pools" | "nominatedNodes" | "policy" | "labelPolicy" | "seed"> {
  readonly snapshot: ClusterSnapshot;
  /** Services and workloads; asked for only if there are default topology constraints. (02:X-51) */
  readonly workloads: () => readonly KubeObject[];
  /** What is known of devices; asked for only if requests for them are not ignored. (02:D-3) */
  readonly devices?: (() => ClusterDevices) | undefined;
}

/** ResourceSlices, and claims and classes by name. */
export type ClusterDevices = Omit<DeviceObjects, "movingPods">;

/** The scheduling problem of a round: its pods against the nodes that stay. (02:P-30) */
export function roundProblem({ snapshot, workloads, devices, ...source }: RoundProblemSource): SchedulingProblem {
  const { nodes, daemons, boundPods, nodesByName, namespaces, volumes } = snapshot;
  return {
    ...source,
    nodes: nodes.filter(({ isBeingDeleted }) => !isBeingDeleted).map(({ existing }) => existing),
    daemons,
    boundPods,
    nodesByName,
    namespaces,
    volumes,
    ...(devices !== undefined && !source.policy.ignoreDra && { devices: deviceObjects(devices(), source.pods) }),
    ...((source.policy.defaultConstraints ?? []).length > 0 && { selectorOwners: selectorOwners(workloads()) }),
  };
}

/** Pods that are bound, and yet to be placed, leave nodes that go. (02:D-11) */
function deviceObjects(devices: ClusterDevices, pods: readonly Pod[]): DeviceObjects {
  const leaving = pods.filter(({ spec }) => (spec.nodeName ?? "") !== "");
  return { ...devices, movingPods: new Set(leaving.map(({ metadata }) => metadata.uid ?? "")) };
}
