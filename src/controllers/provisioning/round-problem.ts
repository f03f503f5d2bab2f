import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { isOwnNomination } from "../../core/nominations.ts";
import type { StateNode } from "../../core/round/cluster-snapshot.ts";
import { type RoundProblemSource, roundProblem } from "../../core/round/round-problem.ts";
import type { SchedulingPolicy, SchedulingProblem } from "../../core/scheduling/problem.ts";
import type { ResourceType } from "../../kube/client.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { Cluster } from "../../state/cluster.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import type { Settings } from "../settings.ts";
import { runInSlices } from "./run-in-slices.ts";

/** Kinds whose selectors default topology constraints use; read only if there are such constraints. (02:X-51) */
export const selectorOwnerKinds: readonly ResourceType[] = [
  builtInTypes.Service,
  builtInTypes.ReplicationController,
  builtInTypes.ReplicaSet,
  builtInTypes.StatefulSet,
];

/** The scheduling problem of a round of this controller. (02:P-30) */
export async function buildRoundProblem(
  source: Pick<RoundProblemSource, "pods" | "pools" | "snapshot" | "seed">,
  { cloud, cluster, settings, openBudget, view }: KarpenterContext,
): Promise<SchedulingProblem> {
  return roundProblem({
    ...source,
    nominatedNodes: await runInSlices(nominatedNodes(source.pods, cluster), openBudget()),
    workloads: () => selectorOwnerKinds.flatMap((type) => view<KubeObject>(type).all()),
    policy: schedulingPolicyOf(settings),
    labelPolicy: cloud.labelPolicy,
  });
}

/**
 * The node each pod that still waits was planned on: by an earlier round, or, as a nomination tells, by one before this
 * process started. (02:L-32, L-43)
 */
export function* nominatedNodes(pods: readonly Pod[], cluster: Cluster): Steps<ReadonlyMap<string, string>> {
  const nominated = new Map<string, string>();
  yield* forEachInSteps(pods, (pod) => {
    const key = namespacedName(pod.metadata);
    const node = plannedNodeOf(pod, key, cluster);
    if (node !== undefined && !node.isBeingDeleted) nominated.set(key, node.existing.name);
  });
  return nominated;
}

function plannedNodeOf(pod: Pod, key: string, cluster: Cluster): StateNode | undefined {
  const { plannedPods } = cluster;
  const claim = plannedPods.claimOf(key);
  if (claim !== undefined) return cluster.nodeByClaimName(claim);
  const isTakenOver = !plannedPods.isDecided(key) && isOwnNomination(pod);
  return isTakenOver ? cluster.nodeByName(pod.status?.nominatedNodeName ?? "") : undefined;
}

export function schedulingPolicyOf(settings: Settings): SchedulingPolicy {
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
