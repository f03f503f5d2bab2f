import type { NodePool } from "../../api/kinds/node-pool.ts";
import type { KubeObject } from "../../api/object.ts";
import { isManagedPool } from "../../api/validation/node-pool.ts";
import type { DisruptionSearch, DisruptionSnapshot, RecentMove } from "../../core/disruption/snapshot.ts";
import type { PodDisruptionBudget } from "../../core/pod-predicates.ts";
import type { Pool } from "../../core/scheduling/problem.ts";
import { builtInTypes } from "../../kube/resources.ts";
import { type DisruptionSources, disruptionSnapshotOf } from "../../state/disruption-snapshot.ts";
import { clusterDevices } from "../device-views.ts";
import type { KarpenterContext } from "../karpenter-context.ts";
import { nodePoolView } from "../node-pool/managed-pools.ts";
import { roundPodsOf } from "../provisioning/collect-pods.ts";
import { instanceTypesFor } from "../provisioning/pools-with-instance-types.ts";
import { nominatedNodes, schedulingPolicyOf, selectorOwnerKinds } from "../provisioning/round-problem.ts";
import { runInSlices } from "../provisioning/run-in-slices.ts";

export interface TakeSnapshotOptions {
  readonly inCommand: readonly string[];
  readonly heldBackPools: ReadonlyMap<string, number>;
  readonly recentMoves: readonly RecentMove[];
  readonly seed: number;
  readonly mode: DisruptionSearch;
}

/** The cluster as a disruption pass sees it. (docs/designs/disruption.md) */
export async function takeDisruptionSnapshot(
  options: TakeSnapshotOptions,
  context: KarpenterContext,
): Promise<DisruptionSnapshot> {
  return disruptionSnapshotOf(context.cluster, await disruptionSources(options, context));
}

/** What a pass reads beside cluster state. */
export async function disruptionSources(
  { inCommand, heldBackPools, recentMoves, seed, mode }: TakeSnapshotOptions,
  context: KarpenterContext,
): Promise<DisruptionSources> {
  const { cluster, cloud, clock, settings, view, openBudget } = context;
  const pools = await managedPools(context);
  const { pending, ofBuffers } = await roundPodsOf(cluster.snapshot(), context);
  const pendingPods = [...pending, ...ofBuffers];
  const places = { snapshot: cluster.snapshot(), plannedPods: cluster.plannedPods };
  const hasConstraints = settings.defaultConstraints.length > 0;
  return {
    nowMs: clock.now(),
    pools,
    served: cloud.nodeClasses,
    pendingPods,
    disruptionBudgets: view<KubeObject & PodDisruptionBudget>(builtInTypes.PodDisruptionBudget).all(),
    inCommand: new Set(inCommand),
    nominatedNodes: await runInSlices(nominatedNodes(pendingPods, places), openBudget()),
    heldBackPools,
    recentMoves,
    workloads: hasConstraints ? selectorOwnerKinds.flatMap((type) => view<KubeObject>(type).all()) : [],
    policy: schedulingPolicyOf(settings),
    devices: settings.ignoreDraRequests ? undefined : clusterDevices(context),
    labelPolicy: cloud.labelPolicy,
    seed,
    allowsSpotToSpot: settings.gates.SpotToSpotConsolidation,
    allowsMultiReplacement: settings.gates.MultiReplacement,
    mode,
  };
}

/** Pools whose types are unknown have none, so that their nodes are no candidates. (03:D-16) */
async function managedPools(context: KarpenterContext): Promise<readonly Pool[]> {
  const { cloud, log } = context;
  const managed = nodePoolView(context)
    .all()
    .filter((pool: NodePool) => isManagedPool(pool, cloud.nodeClasses));
  const pools: Pool[] = [];
  for (const nodePool of managed)
    pools.push({ nodePool, instanceTypes: await instanceTypesFor(nodePool, { cloud, log }) });
  return pools;
}
