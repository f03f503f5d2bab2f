import { getCondition, isStatusConditionTrue } from "../../src/api/conditions/set-condition.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { annotations, labels, taints } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import type { CloudProvider } from "../../src/cloud/cloud-provider.ts";
import type { FeatureGates } from "../../src/controllers/settings.ts";
import type { InstanceType } from "../../src/core/instance-type.ts";
import {
  isDisruptable,
  isOwnedByDaemonSet,
  isProvisionable,
  isWaitingEviction,
} from "../../src/core/pod-predicates.ts";
import { defaultSchedulingPolicy } from "../../src/core/scheduling/problem.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import type { SimulatedCloud } from "../../src/providers/sim/simulated-cloud.ts";
import { scenarioOf } from "../../src/state/scenario.ts";
import { storages } from "../world/stored-objects.ts";
import { type Budget, covers, type StoredPod } from "./budget-checks.ts";
import { type Claim, isForeign, type StoredNode } from "./call-checks.ts";
import type { ClusterRecord } from "./cluster-record.ts";
import { isManagedNode } from "./process-cloud.ts";

export interface ClusterAtRest {
  readonly record: ClusterRecord;
  readonly cloud: SimulatedCloud;
  readonly provider: CloudProvider;
  readonly gates: FeatureGates;
  readonly now: number;
}

/** What may still be on its way: longer than any patience a controller has. */
const underWayMs = 20 * 60_000;

/** What is wrong with a world that had all the time it needed. */
export async function problemsAtRest(atRest: ClusterAtRest): Promise<readonly string[]> {
  return [
    ...instancesWithoutClaims(atRest),
    ...claimsWithoutInstances(atRest),
    ...nodesWithoutClaims(atRest),
    ...neverEnding(atRest),
    ...staticPools(atRest),
    ...markedForEver(atRest),
    ...(await pendingThatFit(atRest)),
  ];
}

function claimsOf({ record }: ClusterAtRest): readonly Claim[] {
  return record.all<Claim>(storages.claims).filter((claim) => !isForeign(claim));
}

function instancesWithoutClaims(atRest: ClusterAtRest): readonly string[] {
  const held = new Set(claimsOf(atRest).map(({ status }) => status?.providerID));
  return atRest.cloud
    .records()
    .filter(({ instance, isTerminating }) => !isTerminating && !held.has(instance.providerId))
    .filter(({ instance }) => atRest.now - instance.launchedAt > underWayMs)
    .map(({ instance, claimName }) => `instance ${instance.id} (launched for ${claimName}) has no NodeClaim`);
}

function claimsWithoutInstances(atRest: ClusterAtRest): readonly string[] {
  const living = new Set(atRest.cloud.records().map(({ instance }) => instance.providerId));
  return claimsOf(atRest)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && isOld(metadata.creationTimestamp, atRest))
    .flatMap((claim) => {
      const { name } = claim.metadata;
      if (!claim.status?.providerID) return [`NodeClaim ${name} is not launched: ${conditions(claim)}`];
      if (!living.has(claim.status.providerID)) return [`NodeClaim ${name} has no instance`];
      return isStatusConditionTrue(claim, "Initialized")
        ? []
        : [`NodeClaim ${name} is not initialized: ${conditions(claim)}`];
    });
}

function nodesWithoutClaims(atRest: ClusterAtRest): readonly string[] {
  const held = new Set(claimsOf(atRest).map(({ status }) => status?.providerID));
  return atRest.record
    .all<StoredNode>(storages.nodes)
    .filter((node) => isManagedNode(node) && !held.has(node.spec?.providerID))
    .map(({ metadata }) => `Node ${metadata.name} has no NodeClaim`);
}

/** What is going must go, unless somebody may hold it: for ever, or until its deadline. */
function neverEnding(atRest: ClusterAtRest): readonly string[] {
  const { record } = atRest;
  const nodes = record.all<StoredNode>(storages.nodes);
  const isStuck = ({ metadata }: KubeObject) =>
    metadata.deletionTimestamp !== undefined && isOld(metadata.deletionTimestamp, atRest);
  const claims = claimsOf(atRest)
    .filter(isStuck)
    .filter(
      (claim) => !nodes.some((node) => node.spec?.providerID === claim.status?.providerID && isHeld(node, atRest)),
    )
    .map(
      (claim) =>
        `NodeClaim ${claim.metadata.name} has been going since ${claim.metadata.deletionTimestamp}: ${conditions(claim)}`,
    );
  const left = nodes
    .filter((node) => isManagedNode(node) && isStuck(node) && !isHeld(node, atRest))
    .map(({ metadata }) => `Node ${metadata.name} has been going since ${metadata.deletionTimestamp}`);
  return [...claims, ...left];
}

function isHeld({ metadata, spec }: StoredNode, atRest: ClusterAtRest): boolean {
  const { record, now } = atRest;
  const claim = claimsOf(atRest).find(({ status }) => status?.providerID === spec?.providerID);
  const deadline = claim?.metadata.annotations?.[annotations.terminationTimestamp];
  if (deadline !== undefined && isOld(deadline, atRest)) return false; // until then pods may hold it (03:T-50)
  const budgets = record.all<Budget>(storages.budgets);
  return record
    .all<StoredPod>(storages.pods)
    .filter((pod) => pod.spec.nodeName === metadata.name && isWaitingEviction(pod, now))
    .some((pod) => {
      const own = budgets.filter((budget) => covers(budget, pod));
      const isBlocked = own.length > 1 || own.some(({ status }) => (status?.disruptionsAllowed ?? 0) <= 0);
      return isBlocked || !isDisruptable(pod, now);
    });
}

/** 03:SP-3, SP-4. */
function staticPools(atRest: ClusterAtRest): readonly string[] {
  if (!atRest.gates.StaticCapacity) return [];
  return atRest.record.all<KubeObject & NodePool>(storages.pools).flatMap((pool) => {
    const { replicas, limits } = pool.spec;
    if (replicas === undefined || !isStatusConditionTrue(pool, "Ready")) return [];
    const own = claimsOf(atRest).filter(({ metadata }) => metadata.labels?.[labels.nodePool] === pool.metadata.name);
    const staying = own.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length;
    const going = own.length - staying;
    const most = Number(limits?.["nodes"] ?? Number.POSITIVE_INFINITY);
    if (staying === replicas || (staying < replicas && staying + going >= most)) return [];
    return [`static pool ${pool.metadata.name} has ${staying} (and ${going} going) of ${replicas}, limit ${most}`];
  });
}

/** A node that takes no pods because of a command that no longer exists. A command gives up after ten minutes. (03:D-3, D-76) */
function markedForEver(atRest: ClusterAtRest): readonly string[] {
  return claimsOf(atRest)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((claim) => {
      const since = getCondition(claim, "DisruptionReason")?.lastTransitionTime;
      const node = atRest.record.get<StoredNode>(storages.nodes, claim.status?.nodeName ?? "");
      const isTainted = node?.spec?.taints?.some(({ key }) => key === taints.disrupted.key) ?? false;
      if (since !== undefined && isOld(since, atRest))
        return [`NodeClaim ${claim.metadata.name} is marked since ${since}`];
      return isTainted && since === undefined ? [`Node ${node?.metadata.name} is tainted without a reason`] : [];
    });
}

/** A pass over the cluster as it is must refuse every pod that waits. */
export async function pendingThatFit(atRest: ClusterAtRest, waitedMs: number = underWayMs): Promise<readonly string[]> {
  const waiting = atRest.record
    .all<StoredPod>(storages.pods)
    .filter((pod) => isWaiting(pod) && isOld(pod.metadata.creationTimestamp, atRest, waitedMs));
  if (waiting.length === 0) return [];
  const unseen = waiting
    .filter((pod) => !isProvisionable(pod))
    .map((pod) => `Pod ${nameOf(pod)} waits, and no scheduler says why`);
  const { problem } = scenarioOf(await settled(atRest), {
    typesFor: await typesFor(atRest),
    served: atRest.provider.nodeClasses,
    labelPolicy: atRest.provider.labelPolicy,
    policy: defaultSchedulingPolicy,
    seed: 1,
    nowMs: atRest.now,
  });
  const { placements, newNodes } = solve(problem);
  const places = new Map([
    ...placements.flatMap(({ node, pods }) => pods.map((pod) => [nameOf(pod), `Node ${node}`] as const)),
    ...newNodes.flatMap(({ pool, pods }) => pods.map((pod) => [nameOf(pod), `a new node of ${pool}`] as const)),
  ]);
  const fitting = waiting.filter((pod) => places.has(nameOf(pod)) && !(isSpread(pod) && hasNodesThatGo(atRest)));
  return [...unseen, ...fitting.map((pod) => `Pod ${nameOf(pod)} waits, though it fits ${places.get(nameOf(pod))}`)];
}

function isSpread({ spec }: StoredPod): boolean {
  return (spec.topologySpreadConstraints ?? []).some(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule");
}

/** The scheduler counts the domains of nodes that cannot be drained, a pass does not: the scheduler may refuse what it places. */
function hasNodesThatGo({ record }: ClusterAtRest): boolean {
  return record.all<StoredNode>(storages.nodes).some(({ metadata }) => metadata.deletionTimestamp !== undefined);
}

function isWaiting(pod: StoredPod): boolean {
  const { metadata, spec, status } = pod;
  if ((spec.nodeName ?? "") !== "" || metadata.deletionTimestamp !== undefined || isOwnedByDaemonSet(pod)) return false;
  const isGated = status?.conditions?.some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated",
  );
  return isGated !== true;
}

/** Without overlays and buffers where these are switched off. */
async function settled({ record, gates }: ClusterAtRest): Promise<readonly KubeObject[]> {
  const off = [...(gates.NodeOverlay ? [] : ["NodeOverlay"]), ...(gates.CapacityBuffer ? [] : ["CapacityBuffer"])];
  return record.everything().filter(({ kind }) => !off.includes(kind));
}

async function typesFor({ record, provider }: ClusterAtRest): Promise<() => readonly InstanceType[]> {
  const [pool] = record.all<KubeObject & NodePool>(storages.pools);
  const types = pool === undefined ? [] : await provider.instanceTypes(pool).catch(() => []);
  return () => types;
}

function isOld(time: string | undefined, { now }: Pick<ClusterAtRest, "now">, ms: number = underWayMs): boolean {
  return now - Date.parse(time ?? "") > ms;
}

function nameOf({ metadata }: Pick<StoredPod, "metadata">): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function conditions({ status }: Claim): string {
  return (status?.conditions ?? [])
    .map((one) => `${one.type}=${one.status}${one.reason ? `(${one.reason})` : ""}`)
    .join(" ");
}
