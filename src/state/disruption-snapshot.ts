import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import type { KubeObject } from "../api/object.ts";
import type { GroupKind } from "../api/validation/node-pool.ts";
import type { DisruptionPool, DisruptionSearch, DisruptionSnapshot, RecentMove } from "../core/disruption/snapshot.ts";
import { type InstanceType, offeringPriceAt } from "../core/instance-type.ts";
import { PdbIndex } from "../core/pdb-index.ts";
import { compilePdb, type PodDisruptionBudget } from "../core/pod-predicates.ts";
import type { ClusterSnapshot } from "../core/round/cluster-snapshot.ts";
import type { ClusterDevices } from "../core/round/round-problem.ts";
import { selectUsablePools } from "../core/round/usable-pools.ts";
import type { Pool, SchedulingPolicy } from "../core/scheduling/problem.ts";
import type { Cluster } from "./cluster.ts";

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
  readonly recentMoves?: readonly RecentMove[] | undefined;
  /** Services and workloads, if there are default topology constraints. */
  readonly workloads?: readonly KubeObject[] | undefined;
  /** Unless requests for devices are ignored. (02:D-3) */
  readonly devices?: ClusterDevices | undefined;
  /** Of provisioning; simulations may pass reserved capacity over. (03:D-39) */
  readonly policy: SchedulingPolicy;
  readonly labelPolicy: LabelPolicy;
  readonly seed: number;
  readonly allowsSpotToSpot: boolean;
  readonly allowsMultiReplacement?: boolean;
  readonly mode: DisruptionSearch;
}

/** What a disruption pass decides on: the cluster now, as one value. (docs/designs/disruption.md) */
export function disruptionSnapshotOf(cluster: Cluster, sources: DisruptionSources): DisruptionSnapshot {
  const { pools, served, policy, mode, heldBackPools, recentMoves, workloads, ...rest } = sources;
  const { allowsMultiReplacement = false } = sources;
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
    pdbs: new PdbIndex(sources.disruptionBudgets.map(compilePdb)),
    nominated: new Set(ids.filter((id) => cluster.isNominated(id))),
    bufferPodCounts: new Map(bufferPodCounts.filter(([, count]) => count > 0)),
    heldBackPools: heldBackPools ?? new Map(),
    recentMoves: recentMoves ?? [],
    workloads: workloads ?? [],
    policy: { ...policy, reservedMode: "Fallback", packing: mode === "default" ? policy.packing : "plain" },
    allowsMultiReplacement: allowsMultiReplacement && mode === "default",
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
      const types = new Map(instanceTypes.map((type) => [type.name, type]));
      const pool = {
        name,
        nodePool,
        instanceTypes: types,
        cost: claimsCost(claims.get(name) ?? [], types),
        claims: cluster.nodePoolState.counts(name),
      };
      return [name, pool];
    }),
  );
}

/** What the claims cost together, as far as prices are known. (03:S-7) */
function claimsCost(claims: readonly NodeClaim[], types: ReadonlyMap<string, InstanceType>): number {
  const prices = new Map<string, number>();
  return claims.reduce((sum, { metadata }) => {
    const {
      [labels.instanceType]: name = "",
      [labels.zone]: zone,
      [labels.capacityType]: capacityType,
    } = metadata.labels ?? {};
    const key = `${name} ${zone} ${capacityType}`;
    const type = types.get(name);
    const price = prices.get(key) ?? (type && offeringPriceAt(type, { zone, capacityType })) ?? 0;
    prices.set(key, price);
    return sum + price;
  }, 0);
}
