import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { selectorOwners } from "../../core/scenario/selector-owners.ts";
import type { Pool, SchedulingPolicy, SchedulingProblem } from "../../core/scheduling/problem.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { LoopWorld } from "../../kube/loop.ts";
import { builtIn } from "../../kube/resources.ts";
import type { ClusterSnapshot } from "../../state/cluster.ts";
import type { Budget } from "../budget.ts";
import type { Parts } from "../parts.ts";
import type { Settings } from "../settings.ts";
import { inSlices } from "./slices.ts";

/** What default topology constraints deduce selectors from: read only where there are such. (02:X-51) */
export const selectorOwnerKinds: readonly ResourceType[] = [
  builtIn.Service,
  builtIn.ReplicationController,
  builtIn.ReplicaSet,
  builtIn.StatefulSet,
];

export interface ProblemSource {
  readonly pods: readonly Pod[];
  readonly pools: readonly Pool[];
  readonly snapshot: ClusterSnapshot;
  readonly seed: number;
}

/** What a pass over the cluster as it is now would be asked: pods against the machines that stay. (02:P-30) */
export async function problemOver(
  { pods, pools, snapshot, seed }: ProblemSource,
  { cloud, cluster, settings, budgets }: Pick<Parts, "cloud" | "cluster" | "settings" | "budgets">,
  world: Pick<LoopWorld, "view">,
): Promise<SchedulingProblem> {
  const { nodes, daemons, boundPods, nodesByName, namespaces, volumes } = snapshot;
  return {
    pods,
    promised: await promises(pods, { cluster, budget: budgets() }),
    nodes: nodes.filter(({ isLeaving }) => !isLeaving).map(({ existing }) => existing),
    pools,
    daemons,
    boundPods,
    nodesByName,
    namespaces,
    volumes,
    ...(settings.defaultConstraints.length > 0 && { selectorOwners: ownersIn(world) }),
    policy: policyOf(settings),
    labelPolicy: cloud.labelPolicy,
    seed,
  };
}

/** The machines earlier rounds bought or chose for pods that wait for them. */
async function promises(
  pods: readonly Pod[],
  { cluster, budget }: Pick<Parts, "cluster"> & { readonly budget: Budget },
): Promise<ReadonlyMap<string, string>> {
  const promised = new Map<string, string>();
  const look = ({ metadata }: Pod): void => {
    const key = namespacedName(metadata);
    const { claim } = cluster.times.get(key);
    const node = claim === undefined ? undefined : cluster.nodeOfClaim(claim);
    if (node !== undefined && !node.isLeaving) promised.set(key, node.existing.name);
  };
  await inSlices(pods, { budget, look });
  return promised;
}

function policyOf(settings: Settings): SchedulingPolicy {
  const { preferencePolicy, minValuesPolicy, ignoreDraRequests, packing, gates, defaultConstraints } = settings;
  return {
    preferences: preferencePolicy,
    minValues: minValuesPolicy,
    reservedCapacity: gates.ReservedCapacity,
    reservedMode: "Strict",
    ignoreDra: ignoreDraRequests,
    packing,
    defaultConstraints,
  };
}

function ownersIn(world: Pick<LoopWorld, "view">): NonNullable<SchedulingProblem["selectorOwners"]> {
  return selectorOwners(selectorOwnerKinds.flatMap((type) => world.view<KubeObject>(type).all()));
}
