import type { Pod } from "../../api/kubernetes/pod.ts";
import { type KubeObject, namespacedName } from "../../api/object.ts";
import { isOwnNomination } from "../../core/nominations.ts";
import type { ClusterSnapshot } from "../../core/round/cluster-snapshot.ts";
import { type RoundProblemSource, roundProblem } from "../../core/round/round-problem.ts";
import type { SchedulingPolicy, SchedulingProblem } from "../../core/scheduling/problem.ts";
import type { ResourceType } from "../../kube/client.ts";
import { builtInTypes } from "../../kube/resources.ts";
import type { PlannedPods } from "../../state/planned-pods.ts";
import { forEachInSteps, type Steps } from "../../util/steps.ts";
import { clusterDevices } from "../device-views.ts";
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

interface RoundInputs extends Pick<RoundProblemSource, "pods" | "pools" | "snapshot" | "seed"> {
  /** The claims on whose nodes pods are planned that do not exist yet, by pod. */
  readonly expectedClaims?: ReadonlyMap<string, string>;
}

/** The scheduling problem of a round of this controller. (02:P-30) */
export async function buildRoundProblem(
  { expectedClaims, ...source }: RoundInputs,
  context: KarpenterContext,
): Promise<SchedulingProblem> {
  const { cloud, cluster, settings, openBudget, view } = context;
  return roundProblem({
    ...source,
    devices: () => clusterDevices(context),
    nominatedNodes: await runInSlices(
      nominatedNodes(source.pods, { ...source, plannedPods: cluster.plannedPods, expectedClaims }),
      openBudget(),
    ),
    workloads: () => selectorOwnerKinds.flatMap((type) => view<KubeObject>(type).all()),
    policy: schedulingPolicyOf(settings),
    labelPolicy: cloud.labelPolicy,
  });
}

export interface PlannedPlaces {
  /** Whose nodes are meant: a claim has another name as soon as its Node is initialized. */
  readonly snapshot: ClusterSnapshot;
  readonly plannedPods: PlannedPods;
  /** The claims on whose nodes pods are planned that do not exist yet, by pod. */
  readonly expectedClaims?: ReadonlyMap<string, string> | undefined;
}

/**
 * The node each pod that still waits was planned on: by an earlier round, or, as a nomination tells, by one before this
 * process started. (02:L-32, L-43)
 */
export function* nominatedNodes(
  pods: readonly Pod[],
  { snapshot, plannedPods, expectedClaims }: PlannedPlaces,
): Steps<ReadonlyMap<string, string>> {
  const staying = snapshot.nodes.filter(({ isBeingDeleted }) => !isBeingDeleted);
  const byClaim = new Map(staying.map(({ claim, existing }) => [claim?.metadata.name, existing.name]));
  const byNode = new Map(staying.map(({ node, existing }) => [node?.metadata.name, existing.name]));
  const nominated = new Map<string, string>();
  yield* forEachInSteps(pods, (pod) => {
    const key = namespacedName(pod.metadata);
    const claim = expectedClaims?.get(key) ?? plannedPods.claimOf(key);
    const isTakenOver = claim === undefined && !plannedPods.isDecided(key) && isOwnNomination(pod);
    const takenOver = isTakenOver ? byNode.get(pod.status?.nominatedNodeName) : undefined;
    const name = claim === undefined ? takenOver : byClaim.get(claim);
    if (name !== undefined) nominated.set(key, name);
  });
  return nominated;
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
