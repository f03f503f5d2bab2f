import type { NodeClaim } from "../api/kinds/node-claim.ts";
import type { NodePool } from "../api/kinds/node-pool.ts";
import type { Node } from "../api/kubernetes/cluster-objects.ts";
import type { Pod } from "../api/kubernetes/pod.ts";
import { labels } from "../api/labels.ts";
import { type KubeObject, namespacedName } from "../api/object.ts";
import { isCompatible } from "../core/compatibility.ts";
import type { DisruptionSnapshot } from "../core/disruption/snapshot.ts";
import { type InstanceType, type Offering, offeringGroups } from "../core/instance-type.ts";
import { isReschedulable } from "../core/pod-predicates.ts";
import type { ClusterChange, ClusterProjection } from "../core/repack/cluster-projection.ts";
import type { Requirements } from "../core/requirements.ts";
import type { Resources } from "../core/resources.ts";
import { nodeClaimOf } from "../core/round/node-claims.ts";
import { completeNodesAndClaims } from "../core/scenario/complete-nodes.ts";
import type { PlannedNode } from "../core/scheduling/decision.ts";
import { isVirtualPod } from "../core/virtual-pods.ts";
import { Random } from "../util/random.ts";
import type { ClusterState } from "./cluster-state.ts";
import { type DisruptionSources, disruptionSnapshotOf } from "./disruption-snapshot.ts";

/**
 * Cluster state that changes as if commands were carried out: pods are bound to where they were planned, new nodes are
 * there and initialized. Between two changes so much time passes that every consolidateAfter is over.
 */
export class ProjectedCluster implements ClusterProjection {
  readonly #cluster: ClusterState;
  #sources: DisruptionSources;
  readonly #random: Random;
  #launched = 0;

  constructor(cluster: ClusterState, sources: DisruptionSources) {
    this.#cluster = cluster;
    this.#sources = sources;
    this.#random = new Random(sources.seed).fork("projected-node-labels");
  }

  snapshot(): DisruptionSnapshot {
    return disruptionSnapshotOf(this.#cluster, this.#sources);
  }

  carryOut({ removedNodes, newNodes, placements }: ClusterChange): readonly string[] {
    const launched = newNodes.map((node) => this.#launch(node));
    const destinations = new Map<Pod, string>();
    for (const { node, pods } of placements) for (const pod of pods) destinations.set(pod, node);
    for (const [at, { pods }] of newNodes.entries())
      for (const pod of pods) destinations.set(pod, launched[at] as string);
    for (const name of removedNodes) this.#remove(name, destinations);
    this.#bindPending(destinations);
    return launched;
  }

  /** Pods of a buffer stay what they are: room that every round looks for again. */
  #bindPending(destinations: ReadonlyMap<Pod, string>): void {
    const bound = new Set<Pod>();
    for (const pod of this.#sources.pendingPods) {
      const node = destinations.get(pod);
      if (node === undefined || isVirtualPod(pod)) continue;
      this.#bind(pod, node);
      bound.add(pod);
    }
    if (bound.size === 0) return;
    const pendingPods = this.#sources.pendingPods.filter((pod) => !bound.has(pod));
    this.#sources = { ...this.#sources, pendingPods };
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

  /** With its cheapest type, in the cheapest place. */
  #launch(planned: PlannedNode): string {
    const { labelPolicy: policy, nowMs, pools } = this.#sources;
    const pool = pools.find(({ nodePool }) => nodePool.metadata.name === planned.pool)?.nodePool;
    const [type] = planned.instanceTypes;
    const launch = type && cheapestLaunch(type, planned.requirements, policy.wellKnown);
    if (pool === undefined || type === undefined || launch === undefined)
      throw new Error(`a planned node of nodepool ${planned.pool} cannot be launched`);
    const name = `${planned.pool}-new-${++this.#launched}`;
    const claim = nodeClaimOf(planned, {
      pool,
      policy,
      random: this.#random,
      overlaid: { priced: new Set(), enlarged: new Set() },
    });
    const objects = launchedObjects(name, { claim, pool, type, launch });
    const context = { typesFor: () => [type], nowMs, defaultNodeClass: pool.spec.template.spec.nodeClassRef };
    const completed = completeNodesAndClaims(objects, context);
    const [launchedClaim, launchedNode] = objects.map((object) => completed.get(object) ?? object);
    this.#cluster.claimChanged(launchedClaim as unknown as NodeClaim);
    this.#cluster.nodeChanged(launchedNode as unknown as Node);
    return name;
  }
}

/** An offering, and what pods can have of it. */
interface Launch {
  readonly offering: Offering;
  readonly allocatable: Resources;
}

function cheapestLaunch(
  type: InstanceType,
  requirements: Requirements,
  wellKnown: ReadonlySet<string>,
): Launch | undefined {
  const options = { allowUndefined: wellKnown };
  const possible = offeringGroups(type).flatMap(({ allocatable, offerings }) =>
    offerings
      .filter((offering) => isCompatible(requirements, offering.requirements, options))
      .map((offering): Launch => ({ offering, allocatable })),
  );
  return possible.reduce<Launch | undefined>(
    (best, one) => (best === undefined || one.offering.price < best.offering.price ? one : best),
    undefined,
  );
}

interface LaunchedNode {
  readonly claim: KubeObject;
  readonly pool: NodePool;
  readonly type: InstanceType;
  readonly launch: Launch;
}

/** Claim and Node of one name, without what completion fills in. */
function launchedObjects(name: string, { claim, pool, type, launch }: LaunchedNode): readonly [KubeObject, KubeObject] {
  const { offering, allocatable } = launch;
  const offered = [...offering.requirements].flatMap(({ key, singleValue }) =>
    singleValue === undefined ? [] : [[key, singleValue] as const],
  );
  const own = { ...claim.metadata.labels, ...Object.fromEntries(offered), [labels.instanceType]: type.name };
  const { taints = [] } = pool.spec.template.spec;
  const amounts = Object.fromEntries(Object.entries(allocatable).map(([key, one]) => [key, one.toString()]));
  const metadata = { ...claim.metadata, name, uid: `plan-${namespacedName({ name })}`, labels: own };
  return [
    { ...claim, metadata },
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, uid: `${metadata.uid}-node` },
      spec: { taints },
      status: { allocatable: amounts },
    },
  ];
}
