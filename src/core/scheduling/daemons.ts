import type { Pod } from "../../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../../api/label-policy.ts";
import type { Taint } from "../../api/labels.ts";
import { Bitset } from "../../util/bitset.ts";
import { each, type Steps } from "../../util/steps.ts";
import { intersects, isCompatible } from "../compatibility.ts";
import { hostPortsOf } from "../host-ports.ts";
import { podRequests } from "../pod-requests.ts";
import type { RequirementItem } from "../requirement.ts";
import { Requirements } from "../requirements.ts";
import { merge, type Resources } from "../resources.ts";
import { untolerated, withPreferNoScheduleToleration } from "../tolerations.ts";
import type { Catalogue } from "./catalogue.ts";
import { usesDra } from "./pod-class.ts";
import type { HostPort } from "./problem.ts";
import type { ResourceSpace } from "./resource-space.ts";

/** A DaemonSet's pod, read once. */
export interface Daemon {
  readonly pod: Pod;
  readonly requests: Resources;
  /** One for each required node affinity term: any will do. (02 §12.2-5) */
  readonly alternatives: readonly Requirements[];
  readonly hostPorts: readonly HostPort[];
  readonly usesDra: boolean;
}

/** Instance types that will run the same daemons. (02:G-2) */
export interface DaemonGroup {
  readonly columns: Bitset;
  readonly overhead: Resources;
  /** The overhead as a row of the resource space. */
  readonly row: Float64Array;
  readonly hostPorts: readonly HostPort[];
}

export function daemonOf(pod: Pod, policy: LabelPolicy): Daemon {
  const selector = Requirements.fromLabels(pod.spec.nodeSelector ?? {}, policy);
  const terms =
    pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const alternatives = terms.map(({ matchExpressions = [] }) =>
    selector.add(...Requirements.fromItems(matchExpressions as readonly RequirementItem[], policy)),
  );
  return {
    pod,
    requests: podRequests(pod),
    alternatives: alternatives.length === 0 ? [selector] : alternatives,
    hostPorts: hostPortsOf(pod),
    usesDra: usesDra(pod.spec),
  };
}

/** What daemons will take of a node that exists, labels strictly as they are. (02 §5.4) */
export function daemonsOnNode(
  daemons: readonly Daemon[],
  node: { requirements: Requirements; taints: readonly Taint[] },
): Resources {
  const compatible = daemons.filter(
    ({ pod, alternatives }) =>
      untolerated(pod.spec.tolerations, node.taints) === undefined &&
      alternatives.some((requirements) => isCompatible(node.requirements, requirements)),
  );
  return merge(...compatible.map(({ requests }) => requests));
}

export interface GroupingInput {
  readonly daemons: readonly Daemon[];
  readonly catalogue: Catalogue;
  /** Types the template leaves: the others have no daemons to speak of. */
  readonly columns: Bitset;
  readonly space: ResourceSpace;
  readonly template: { readonly requirements: Requirements; readonly taints: readonly Taint[] };
  readonly wellKnown: ReadonlySet<string>;
}

/** The catalogue's columns by the daemons they will run, in the order of their first type. (02:G-1, G-2) */
export function* groupingDaemons({
  daemons,
  catalogue,
  columns: available,
  space,
  template,
  wellKnown,
}: GroupingInput): Steps<readonly DaemonGroup[]> {
  const welcome = daemons
    .filter(
      ({ pod }) => untolerated(withPreferNoScheduleToleration(pod.spec.tolerations), template.taints) === undefined,
    )
    .map((daemon) => ({
      daemon,
      alternatives: daemon.alternatives.filter((one) =>
        isCompatible(template.requirements, one, { allowUndefined: wellKnown }),
      ),
    }));
  const byDaemons = new Map<string, { daemons: readonly Daemon[]; columns: Bitset }>();
  yield* each(catalogue.columns, ({ type }, index) => {
    if (!available.has(index)) return;
    const present = welcome.map(({ alternatives }) => alternatives.some((one) => intersects(type.requirements, one)));
    const key = present.join();
    const group = byDaemons.get(key) ?? {
      daemons: welcome.filter((_, position) => present[position]).map(({ daemon }) => daemon),
      columns: Bitset.empty(catalogue.size),
    };
    group.columns.add(index);
    byDaemons.set(key, group);
  });
  return [...byDaemons.values()].map(({ daemons: compatible, columns }) => {
    const overhead = merge(...compatible.map(({ requests }) => requests));
    return {
      columns,
      overhead,
      row: space.asked(overhead),
      hostPorts: compatible.flatMap(({ hostPorts }) => hostPorts),
    };
  });
}
