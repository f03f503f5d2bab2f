import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import type { Taint } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { intersects, isCompatible } from "../compatibility.ts";
import { type HostPort, hostPortsOf } from "../host-ports.ts";
import { podRequests } from "../pod-requests.ts";
import { Requirements } from "../requirements.ts";
import { mergeResources, type Resources } from "../resources.ts";
import { firstUntoleratedTaint, withPreferNoScheduleToleration } from "../tolerations.ts";
import type { InstanceTypeTable } from "./instance-type-table.ts";
import { usesDra } from "./pod-class.ts";
import type { ResourceSpace } from "./resource-space.ts";

/** What scheduling needs of a DaemonSet's pod. */
export interface DaemonPod {
  readonly pod: Pod;
  readonly requests: Resources;
  /** One for each required node affinity term; one of them has to match. (02 §12.2-5) */
  readonly alternatives: readonly Requirements[];
  readonly hostPorts: readonly HostPort[];
  readonly usesDra: boolean;
}

/** Instance types that will run the same DaemonSet pods. (02:G-2) */
export interface DaemonGroup {
  readonly columns: Bitset;
  readonly overhead: Resources;
  /** The overhead as a row of the resource space. */
  readonly overheadRow: Float64Array;
  readonly hostPorts: readonly HostPort[];
}

export function daemonPodOf(pod: Pod, policy: LabelPolicy): DaemonPod {
  return {
    pod,
    requests: podRequests(pod),
    alternatives: Requirements.alternativesFromPod(pod.spec, policy),
    hostPorts: hostPortsOf(pod),
    usesDra: usesDra(pod.spec),
  };
}

/** Requests of the DaemonSet pods an existing node will run, by its labels as they are. (02 §5.4) */
export function daemonRequestsOnNode(
  daemons: readonly DaemonPod[],
  node: { requirements: Requirements; taints: readonly Taint[] },
): Resources {
  const compatible = daemons.filter(
    ({ pod, alternatives }) =>
      toleratesHardTaints(pod, node.taints) &&
      alternatives.some((requirements) => isCompatible(node.requirements, requirements)),
  );
  return mergeResources(...compatible.map(({ requests }) => requests));
}

/** DaemonSet pods run in spite of PreferNoSchedule taints. (02:G-1) */
function toleratesHardTaints({ spec }: Pod, taints: readonly Taint[]): boolean {
  return firstUntoleratedTaint(withPreferNoScheduleToleration(spec.tolerations), taints) === undefined;
}

interface DaemonGroupInput {
  readonly daemons: readonly DaemonPod[];
  readonly typeTable: InstanceTypeTable;
  /** Columns the template leaves; the others get no daemon group. */
  readonly columns: Bitset;
  readonly space: ResourceSpace;
  readonly template: { readonly requirements: Requirements; readonly taints: readonly Taint[] };
  readonly wellKnown: ReadonlySet<string>;
}

/** Groups columns by the DaemonSet pods they will run, in the order of their first type. (02:G-1, G-2) */
export function* groupDaemons({
  daemons,
  typeTable,
  columns: available,
  space,
  template,
  wellKnown,
}: DaemonGroupInput): Steps<readonly DaemonGroup[]> {
  const schedulableDaemons = daemons
    .filter(({ pod }) => toleratesHardTaints(pod, template.taints))
    .map((daemon) => ({
      daemon,
      alternatives: daemon.alternatives.filter((one) =>
        isCompatible(template.requirements, one, { allowUndefined: wellKnown }),
      ),
    }));
  const byDaemons = new Map<string, { daemons: readonly DaemonPod[]; columns: Bitset }>();
  yield* forEachInSteps(typeTable.columns, ({ type }, index) => {
    if (!available.has(index)) return;
    const present = schedulableDaemons.map(({ alternatives }) =>
      alternatives.some((one) => intersects(type.requirements, one)),
    );
    const key = present.join();
    const group = byDaemons.get(key) ?? {
      daemons: schedulableDaemons.filter((_, position) => present[position]).map(({ daemon }) => daemon),
      columns: Bitset.empty(typeTable.size),
    };
    group.columns.add(index);
    byDaemons.set(key, group);
  });
  return [...byDaemons.values()].map(({ daemons: compatible, columns }) => {
    const overhead = mergeResources(...compatible.map(({ requests }) => requests));
    return {
      columns,
      overhead,
      overheadRow: space.requestRow(overhead),
      hostPorts: compatible.flatMap(({ hostPorts }) => hostPorts),
    };
  });
}
