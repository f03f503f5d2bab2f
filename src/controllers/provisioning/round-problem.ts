import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { selectorOwners } from "../../core/scenario/selector-owners.ts";
import type { Pool, SchedulingPolicy, SchedulingProblem } from "../../core/scheduling/problem.ts";
import type { ResourceType } from "../../kube/client.ts";
import type { ControllerContext } from "../../kube/controller.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { ClusterSnapshot } from "../../state/cluster.ts";
import type { ControllerDependencies } from "../controller-dependencies.ts";
import type { Settings } from "../settings.ts";
import type { WorkBudget } from "../work-budget.ts";
import { forEachInSlices } from "./for-each-in-slices.ts";

/** What default topology constraints deduce selectors from: read only where there are such. (02:X-51) */
export const selectorOwnerKinds: readonly ResourceType[] = [
  builtInTypes.Service,
  builtInTypes.ReplicationController,
  builtInTypes.ReplicaSet,
  builtInTypes.StatefulSet,
];

export interface RoundProblemSource {
  readonly pods: readonly Pod[];
  readonly pools: readonly Pool[];
  readonly snapshot: ClusterSnapshot;
  readonly seed: number;
}

/** What a pass over the cluster as it is now would be asked: pods against the machines that stay. (02:P-30) */
export async function buildRoundProblem(
  { pods, pools, snapshot, seed }: RoundProblemSource,
  {
    cloud,
    cluster,
    settings,
    openBudget,
  }: Pick<ControllerDependencies, "cloud" | "cluster" | "settings" | "openBudget">,
  context: Pick<ControllerContext, "view">,
): Promise<SchedulingProblem> {
  const { nodes, daemons, boundPods, nodesByName, namespaces, volumes } = snapshot;
  return {
    pods,
    nominatedNodes: await nominatedNodes(pods, { cluster, budget: openBudget() }),
    nodes: nodes.filter(({ isBeingDeleted }) => !isBeingDeleted).map(({ existing }) => existing),
    pools,
    daemons,
    boundPods,
    nodesByName,
    namespaces,
    volumes,
    ...(settings.defaultConstraints.length > 0 && { selectorOwners: selectorOwnersIn(context) }),
    policy: schedulingPolicyOf(settings),
    labelPolicy: cloud.labelPolicy,
    seed,
  };
}

/** The machines earlier rounds bought or chose for pods that wait for them. */
async function nominatedNodes(
  pods: readonly Pod[],
  { cluster, budget }: Pick<ControllerDependencies, "cluster"> & { readonly budget: WorkBudget },
): Promise<ReadonlyMap<string, string>> {
  const nominated = new Map<string, string>();
  const addNomination = ({ metadata }: Pod): void => {
    const key = namespacedName(metadata);
    const { claim } = cluster.podTimes.get(key);
    const node = claim === undefined ? undefined : cluster.nodeByClaimName(claim);
    if (node !== undefined && !node.isBeingDeleted) nominated.set(key, node.existing.name);
  };
  await forEachInSlices(pods, { budget, validate: addNomination });
  return nominated;
}

function schedulingPolicyOf(settings: Settings): SchedulingPolicy {
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

function selectorOwnersIn(context: Pick<ControllerContext, "view">): NonNullable<SchedulingProblem["selectorOwners"]> {
  return selectorOwners(selectorOwnerKinds.flatMap((type) => context.view<KubeObject>(type).all()));
}
