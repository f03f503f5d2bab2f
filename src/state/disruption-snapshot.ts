import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import type { KubeObject } from "../api/object.ts";
import type { GroupKind } from "../api/validation/node-pool.ts";
import type { DisruptionMode, DisruptionPool, DisruptionSnapshot } from "../core/disruption/snapshot.ts";
import { compilePdb, type PodDisruptionBudget } from "../core/pod-predicates.ts";
import type { ClusterSnapshot } from "../core/round/cluster-snapshot.ts";
import { selectUsablePools } from "../core/round/usable-pools.ts";
import type { Pool, SchedulingPolicy } from "../core/scheduling/problem.ts";
import type { Cluster } from "./cluster.ts";
import { poolCost, priceList } from "./pool-cost.ts";

/** What a disruption pass reads beside cluster state. */
export interface DisruptionSources {
  readonly nowMs: number;
  /** Every pool of our node classes, static and not ready ones too, with its instance types. */
  readonly pools: readonly Pool[];
  /** Node classes the provider serves. */
  readonly served: readonly GroupKind[];
  /** Pending pods that passed validation, and pods of capacity buffers. */
  readonly pendingPods: readonly Pod[];
  readonly disruptionBudgets: readonly PodDisruptionBudget[];
  /** Provider ids of nodes that are part of a command. */
  readonly inCommand: ReadonlySet<string>;
  readonly nominatedNodes?: ReadonlyMap<string, string> | undefined;
  readonly heldBackPools?: ReadonlyMap<string, number> | undefined;
  /** Services and workloads, if there are default topology constraints. */
  readonly workloads?: readonly KubeObject[] | undefined;
  /** Of provisioning; simulations may pass reserved capacity over. (03:D-39) */
  readonly policy: SchedulingPolicy;
  readonly labelPolicy: LabelPolicy;
  readonly seed: number;
  readonly allowsSpotToSpot: boolean;
  readonly mode: DisruptionMode;
}

/** What a disruption pass decides on: the cluster now, as one value. (docs/designs/disruption.md) */
export function disruptionSnapshotOf(cluster: Cluster, sources: DisruptionSources): DisruptionSnapshot {
  const { pools, served, disruptionBudgets, policy, mode, heldBackPools, workloads, ...rest } = sources;
  const snapshot = cluster.snapshot();
  const usable = new Set(
    selectUsablePools(
      pools.map(({ nodePool }) => nodePool),
      served,
    ).usable,
  );
  const ids = snapshot.nodes.map(({ providerId }) => providerId);
  const bufferPodCounts = ids.map((id) => [id, cluster.bufferPodCount(id)] as const);
  return {
    ...rest,
    cluster: snapshot,
    pools: disruptionPools(pools, { cluster, snapshot }),
    usablePools: pools.filter(({ nodePool }) => usable.has(nodePool)),
    pdbs: disruptionBudgets.map(compilePdb),
    nominated: new Set(ids.filter((id) => cluster.isNominated(id))),
    bufferPodCounts: new Map(bufferPodCounts.filter(([, count]) => count > 0)),
    heldBackPools: heldBackPools ?? new Map(),
    workloads: workloads ?? [],
    policy: { ...policy, reservedMode: "Fallback", packing: mode === "upstream" ? "plain" : policy.packing },
    mode,
  };
}

function disruptionPools(
  pools: readonly Pool[],
  { cluster, snapshot }: { readonly cluster: Cluster; readonly snapshot: ClusterSnapshot },
): ReadonlyMap<string, DisruptionPool> {
  const claims = new Map<string, NodeClaim[]>();
  for (const { claim } of snapshot.nodes) {
    const pool = claim?.metadata.labels?.[labels.nodePool];
    if (claim === undefined || pool === undefined) continue;
    const known = claims.get(pool);
    if (known === undefined) claims.set(pool, [claim]);
    else known.push(claim);
  }
  return new Map(
    pools.map(({ nodePool, instanceTypes }): [string, DisruptionPool] => {
      const { name = "" } = nodePool.metadata;
      const pool = {
        name,
        nodePool,
        instanceTypes: new Map(instanceTypes.map((type) => [type.name, type])),
        cost: poolCost(claims.get(name) ?? [], priceList(instanceTypes)).total,
        claims: cluster.nodePoolState.counts(name),
      };
      return [name, pool];
    }),
  );
}
