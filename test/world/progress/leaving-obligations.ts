import { isStatusConditionTrue } from "../../../src/api/conditions/set-condition.ts";
import type { NodeClaim } from "../../../src/api/kinds/node-claim.ts";
import type { NodePool } from "../../../src/api/kinds/node-pool.ts";
import type { Node } from "../../../src/api/kubernetes/cluster-objects.ts";
import { annotations, labels } from "../../../src/api/labels.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { Quantity } from "../../../src/util/quantity.ts";
import { storages } from "../stored-objects.ts";
import type { JudgedCluster, Obligation } from "./obligations.ts";

type StoredClaim = KubeObject & NodeClaim;
type StoredNode = KubeObject & Node;
type StoredPool = KubeObject & NodePool;

interface RecordedEvent {
  readonly reason: string;
  readonly involvedObject: { readonly name: string };
  readonly lastTimestamp: string;
}

/** Watches may be late by three seconds, and a reconcile makes a few calls. */
const soonMs = 10_000;
/** Static pools look at cluster state once a minute. */
const staticMs = 75_000;
/** A repair that had to wait for other nodes is tried again after five minutes. (03:R-4) */
const repairMs = 5 * 60_000 + soonMs;
/** A message whose claim is not known yet is kept for a minute. (03:I-2) */
const interruptionMs = 60_000 + soonMs;

/** Nodes that no longer fit, or are no longer wanted, are noticed soon: drift, static pools, repair, interruption. */
export function leavingObligations(claims: readonly StoredClaim[], cluster: JudgedCluster): readonly Obligation[] {
  const pools = cluster.objects.all<StoredPool>(storages.pools);
  return [
    ...claims.flatMap((claim) => driftMark(claim, pools)),
    ...(cluster.gates.StaticCapacity ? pools.flatMap((pool) => staticSize(pool, claims, cluster)) : []),
    ...(cluster.gates.NodeRepair ? claims.flatMap((claim) => repair(claim, cluster)) : []),
    ...cluster.cloud.interruptionQueue.messages().map(({ id, kind, providerId }) => ({
      what: `${id} (${kind}) about ${providerId} is not handled`,
      withinMs: interruptionMs,
    })),
  ];
}

/** A claim of an old template says so. (03:M-7, P-2) */
function driftMark(claim: StoredClaim, pools: readonly StoredPool[]): readonly Obligation[] {
  const { annotations: own = {}, labels: marks = {}, name, deletionTimestamp } = claim.metadata;
  const pool = pools.find(({ metadata }) => metadata.name === marks[labels.nodePool]);
  const wanted = pool?.metadata.annotations ?? {};
  const { nodePoolHash: hash, nodePoolHashVersion: version } = annotations;
  const isOld = own[hash] !== undefined && wanted[hash] !== undefined && own[hash] !== wanted[hash];
  if (!isOld || own[version] !== wanted[version] || deletionTimestamp !== undefined) return [];
  if (!isStatusConditionTrue(claim, "Launched") || isStatusConditionTrue(claim, "Drifted")) return [];
  return [{ what: `NodeClaim ${name} is of an old template, but not drifted`, withinMs: soonMs }];
}

/** A static pool has the nodes it should have, as far as the cloud has instances. (03:SP-3, SP-4) */
function staticSize(pool: StoredPool, claims: readonly StoredClaim[], cluster: JudgedCluster): readonly Obligation[] {
  const { replicas, limits } = pool.spec;
  const { name, deletionTimestamp } = pool.metadata;
  if (replicas === undefined || deletionTimestamp !== undefined || !isStatusConditionTrue(pool, "Ready")) return [];
  const own = claims.filter(({ metadata }) => metadata.labels?.[labels.nodePool] === name);
  const staying = own.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const most = limits?.["nodes"] === undefined ? Infinity : Quantity.parse(String(limits["nodes"])).toNumber();
  const replacing = staying.filter((claim) => isStatusConditionTrue(claim, "DisruptionReason")).length;
  const isShort = staying.length < replicas && own.length < most;
  const isSurplus = staying.length - replacing > replicas;
  if (!isSurplus && (!isShort || wasOutOfStock(pool, cluster))) return [];
  return [{ what: `static pool ${name} has ${staying.length} of ${replicas} nodes`, withinMs: staticMs }];
}

/** Whether a launch for the pool has failed for want of capacity since it was last tried. Claims are named after their pool. */
function wasOutOfStock({ metadata: { name } }: StoredPool, { objects, now }: JudgedCluster): boolean {
  return objects
    .all<KubeObject & RecordedEvent>(storages.events)
    .some(
      ({ reason, involvedObject, lastTimestamp }) =>
        reason === "InsufficientCapacityError" &&
        involvedObject.name.startsWith(`${name}-`) &&
        now - Date.parse(lastTimestamp) < staticMs,
    );
}

/** A node that was unhealthy for too long goes, unless too many are. (03) */
function repair(claim: StoredClaim, { objects, repairPolicies, now }: JudgedCluster): readonly Obligation[] {
  if (claim.metadata.deletionTimestamp !== undefined) return [];
  const pool = claim.metadata.labels?.[labels.nodePool];
  const nodes = objects
    .all<StoredNode>(storages.nodes)
    .filter(({ metadata }) => metadata.labels?.[labels.nodePool] === pool);
  const dueAt = ({ status }: StoredNode): number =>
    Math.min(
      ...repairPolicies.flatMap(({ conditionType, conditionStatus, tolerationMs }) =>
        (status?.conditions ?? [])
          .filter(({ type, status: is }) => type === conditionType && is === conditionStatus)
          .map(({ lastTransitionTime = "" }) => Date.parse(lastTransitionTime) + tolerationMs),
      ),
      Number.POSITIVE_INFINITY,
    );
  const unhealthy = nodes.filter((node) => Number.isFinite(dueAt(node))).length;
  const node = nodes.find(({ spec }) => spec?.providerID === claim.status?.providerID);
  if (node === undefined || dueAt(node) > now || unhealthy > Math.ceil(nodes.length / 5)) return [];
  return [{ what: `Node ${node.metadata.name} is unhealthy for too long, but stays`, withinMs: repairMs }];
}
