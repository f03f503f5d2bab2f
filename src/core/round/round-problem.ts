import type { KubeObject } from "../../api/object.ts";
import type { SchedulingProblem } from "../scheduling/problem.ts";
import type { ClusterSnapshot } from "./cluster-snapshot.ts";
import { selectorOwners } from "./selector-owners.ts";

export interface RoundProblemSource
  extends Pick<SchedulingProblem, "pods" | "pools" | "nominatedNodes" | "policy" | "labelPolicy" | "seed"> {
  readonly snapshot: ClusterSnapshot;
  /** Services and workloads; asked for only if there are default topology constraints. (02:X-51) */
  readonly workloads: () => readonly KubeObject[];
}

/** The scheduling problem of a round: its pods against the nodes that stay. (02:P-30) */
export function roundProblem({ snapshot, workloads, ...source }: RoundProblemSource): SchedulingProblem {
  const { nodes, daemons, boundPods, nodesByName, namespaces, volumes } = snapshot;
  return {
    ...source,
    nodes: nodes.filter(({ isBeingDeleted }) => !isBeingDeleted).map(({ existing }) => existing),
    daemons,
    boundPods,
    nodesByName,
    namespaces,
    volumes,
    ...((source.policy.defaultConstraints ?? []).length > 0 && { selectorOwners: selectorOwners(workloads()) }),
  };
}
