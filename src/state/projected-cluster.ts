import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type { Node } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import type { LabelPolicy } from "../api/label-policy.ts";
import { type KubeObject, namespacedName } from "../api/object.ts";
import {
  type ClaimLaunch,
  claimLaunchRequestOf,
  type LaunchableOffering,
  likelyOffers,
  type OfferChooser,
  resolvedLabels,
  resourceListOf,
} from "../cloud/launchable-offerings.ts";
import { type InstanceType, type Offering, offeringReservationId } from "../core/instance-type.ts";
import type { OverlaidTypes } from "../core/overlay.ts";
import { isReschedulable } from "../core/pod-predicates.ts";
import type { ClusterChange } from "../core/repack/cluster-projection.ts";
import { nodeClaimOf, staticNodeClaimOf } from "../core/round/node-claims.ts";
import { isStaticPool } from "../core/round/static-pools.ts";
import { completeNodesAndClaims } from "../core/scenario/complete-nodes.ts";
import type { PlannedNode } from "../core/scheduling/decision.ts";
import type { Pool } from "../core/scheduling/problem.ts";
import { isVirtualPod } from "../core/virtual-pods.ts";
import { Random } from "../util/random.ts";
import type { ClusterState } from "./cluster-state.ts";
import { withoutUsedReservations } from "./used-reservations.ts";

export interface ProjectionSources {
  /** Every pool that may get nodes, with its instance types. */
  readonly pools: readonly Pool[];
  /** Pods that have no node yet, those of capacity buffers too. */
  readonly pendingPods: readonly Pod[];
  readonly labelPolicy: LabelPolicy;
  readonly seed: number;
  readonly nowMs: number;
  /** What the provider asks its cloud for; by default everything that fits. */
  readonly chooseOffers?: OfferChooser | undefined;
}

/** A node as it would be launched. */
export interface ProjectedNode {
  readonly name: string;
  readonly type: InstanceType;
  readonly offering: Offering;
}

/**
 * Cluster state that changes as if decisions were carried out: pods are bound to where they were planned, new nodes are
 * there and initialized, as the type their provider would launch.
 */
export class ProjectedCluster {
  readonly #cluster: ClusterState;
  readonly #sources: ProjectionSources;
  readonly #random: Random;
  readonly #reservationUsage = new Map<string, number>();
  readonly #replicaOffers = new Map<NodePool, readonly LaunchableOffering[]>();
  #pendingPods: readonly Pod[];
  #launched = 0;

  constructor(cluster: ClusterState, sources: ProjectionSources) {
    this.#cluster = cluster;
    this.#sources = sources;
    this.#pendingPods = sources.pendingPods;
    this.#random = new Random(sources.seed).fork("projected-nodes");
  }

  /** Pods that still have no node. Those of buffers stay: they are room that every round looks for again. */
  get pendingPods(): readonly Pod[] {
    return this.#pendingPods;
  }

  /** How many of the launched nodes use each reservation, by its id. */
  get reservationUsage(): ReadonlyMap<string, number> {
    return this.#reservationUsage;
  }

  /**
   * The new nodes in their order; undefined where the provider would find nothing to launch: the next round would only
   * plan the same again, so the pods of such a node no longer wait.
   */
  carryOut({ removedNodes, newNodes, placements }: ClusterChange): readonly (ProjectedNode | undefined)[] {
    const launched = newNodes.map((node) => this.#launchPlanned(node));
    const destinations = new Map<Pod, string>();
    const abandoned = new Set<Pod>();
    for (const { node, pods } of placements) for (const pod of pods) destinations.set(pod, node);
    for (const [at, { pods }] of newNodes.entries()) {
      const name = launched[at]?.name;
      for (const pod of pods)
        if (name === undefined) abandoned.add(pod);
        else destinations.set(pod, name);
    }
    for (const name of removedNodes) this.#remove(name, destinations);
    this.#bindPending(destinations);
    this.#drop(abandoned);
    return launched;
  }

  /** A node of a static pool; undefined if the provider would find nothing to launch. (03:SP-3) */
  launchReplica(pool: NodePool): ProjectedNode | undefined {
    const { labelPolicy: policy } = this.#sources;
    const types = this.#typesOf(pool.metadata.name);
    return this.#launch(staticNodeClaimOf(pool, { policy, random: this.#random }), { pool, types });
  }

  #bindPending(destinations: ReadonlyMap<Pod, string>): void {
    const bound = new Set<Pod>();
    for (const pod of this.#pendingPods) {
      const node = destinations.get(pod);
      if (node === undefined || isVirtualPod(pod)) continue;
      this.#bind(pod, node);
      bound.add(pod);
    }
    this.#drop(bound);
  }

  #drop(pods: ReadonlySet<Pod>): void {
    if (pods.size > 0) this.#pendingPods = this.#pendingPods.filter((pod) => !pods.has(pod));
  }

  #bind(pod: Pod, nodeName: string): void {
    this.#cluster.podChanged({
      ...pod,
      spec: { ...pod.spec, nodeName },
      status: { ...pod.status, phase: "Running", conditions: [] },
    });
  }

  #remove(name: string, destinations: ReadonlyMap<Pod, string>): void {
    const stateNode = this.#cluster.nodeByName(name) ?? this.#cluster.nodeByClaimName(name);
    if (stateNode === undefined) throw new Error(`node ${name} is not part of this cluster`);
    for (const pod of stateNode.pods) {
      const destination = destinations.get(pod);
      if (destination !== undefined && isReschedulable(pod)) this.#bind(pod, destination);
      else this.#cluster.podGone(pod as KubeObject);
    }
    if (stateNode.node !== undefined) this.#cluster.nodeGone(stateNode.node as KubeObject);
    if (stateNode.claim !== undefined) this.#cluster.claimGone(stateNode.claim as unknown as KubeObject);
  }

  #launchPlanned(planned: PlannedNode): ProjectedNode | undefined {
    const pool = this.#sources.pools.find(({ nodePool }) => nodePool.metadata.name === planned.pool)?.nodePool;
    if (pool === undefined) throw new Error(`planned a node for nodepool ${planned.pool}, which is not there`);
    const { labelPolicy: policy } = this.#sources;
    const claim = nodeClaimOf(planned, { pool, policy, random: this.#random, overlaid: noOverlaidTypes });
    return this.#launch(claim, { pool, types: planned.instanceTypes });
  }

  #launch(
    claimObject: KubeObject,
    { pool, types }: { readonly pool: NodePool; readonly types: readonly InstanceType[] },
  ): ProjectedNode | undefined {
    const { labelPolicy, nowMs } = this.#sources;
    const claim = claimObject as unknown as NodeClaim;
    const launch = { claim, launchRequest: claimLaunchRequestOf(claim, labelPolicy) };
    const offers = this.#offersFor(launch, { pool, types });
    const offer = offers[this.#random.int(Math.max(1, offers.length))];
    if (offer === undefined) return undefined;
    const name = `${pool.metadata.name}-new-${++this.#launched}`;
    const objects = launchedObjects(name, {
      claim: claimObject,
      labels: resolvedLabels(claim, launch.launchRequest, offer),
      offer,
    });
    const context = { typesFor: () => [offer.type], nowMs, defaultNodeClass: pool.spec.template.spec.nodeClassRef };
    const completed = completeNodesAndClaims(objects, context);
    const [launchedClaim, launchedNode] = objects.map((object) => completed.get(object) ?? object);
    this.#cluster.claimChanged(launchedClaim as unknown as NodeClaim);
    this.#cluster.nodeChanged(launchedNode as unknown as Node);
    this.#countReservation(offer.offering);
    return { name, type: offer.type, offering: offer.offering };
  }

  /** Replicas of a static pool are all alike, and there may be thousands: they are looked for once. */
  #offersFor(
    launch: ClaimLaunch,
    { pool, types }: { readonly pool: NodePool; readonly types: readonly InstanceType[] },
  ): readonly LaunchableOffering[] {
    const { chooseOffers = (_, offers) => offers } = this.#sources;
    const known = this.#replicaOffers.get(pool);
    if (known !== undefined) return known;
    const [left] = withoutUsedReservations([{ nodePool: pool, instanceTypes: types }], this.#reservationUsage);
    const offers = likelyOffers(launch, left?.instanceTypes ?? types, chooseOffers);
    const isReserved = offers.some(({ offering }) => offering.reservationCapacity !== undefined);
    if (isStaticPool(pool) && !isReserved) this.#replicaOffers.set(pool, offers);
    return offers;
  }

  #countReservation(offering: Offering): void {
    const id = offeringReservationId(offering);
    if (id !== undefined) this.#reservationUsage.set(id, (this.#reservationUsage.get(id) ?? 0) + 1);
  }

  #typesOf(pool: string | undefined): readonly InstanceType[] {
    return this.#sources.pools.find(({ nodePool }) => nodePool.metadata.name === pool)?.instanceTypes ?? [];
  }
}

const noOverlaidTypes: OverlaidTypes = { priced: new Set(), enlarged: new Set() };

interface LaunchedNode {
  readonly claim: KubeObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly offer: LaunchableOffering;
}

/** Claim and Node of one name, without what completion fills in. */
function launchedObjects(name: string, { claim, labels, offer }: LaunchedNode): readonly [KubeObject, KubeObject] {
  const { taints = [] } = claim.spec as NodeClaim["spec"];
  const status = { capacity: resourceListOf(offer.capacity), allocatable: resourceListOf(offer.allocatable) };
  const metadata = { ...claim.metadata, name, uid: `plan-${namespacedName({ name })}`, labels };
  return [
    { ...claim, metadata, status },
    { apiVersion: "v1", kind: "Node", metadata: { name, uid: `${metadata.uid}-node` }, spec: { taints }, status },
  ];
}
