import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NodeClaim } from "../../src/api/kinds/node-claim.ts";
import type {
  CsiNode,
  DaemonSet,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../src/api/kubernetes/cluster-objects.ts";
import type { Container, Pod, Volume } from "../../src/api/kubernetes/pod.ts";
import { namespacedName, type ObjectMeta } from "../../src/api/object.ts";
import { isOwnedByDaemonSet, isProvisionable, isTerminalPod } from "../../src/core/pod-predicates.ts";
import { podRequests } from "../../src/core/pod-requests.ts";
import { mergeResources } from "../../src/core/resources.ts";
import type { ClusterState } from "../../src/state/cluster-state.ts";
import {
  existingNodeOf,
  isNodeBeingDeleted,
  nodeSizeOf,
  placedNodeOf,
  trackingIdOf,
} from "../../src/state/existing-node.ts";
import { runs } from "../runs.ts";
import { claim, daemonSet, emptyState, node, written } from "./objects.ts";

/** Objects of every kind state is told of, by what tells of them. */
interface Kinds {
  claim: NodeClaim;
  node: Node;
  pod: Pod;
  daemonSet: DaemonSet;
  csiNode: CsiNode;
  volumeClaim: PersistentVolumeClaim;
  volume: PersistentVolume;
  storageClass: StorageClass;
}

type Kind = keyof Kinds;
type Step = { readonly look: boolean } & {
  [K in Kind]: { readonly kind: K; readonly object: Kinds[K]; readonly isGone: boolean };
}[Kind];

const ids = ["a", "b", "n0"];
const nodeNames = ["n0", "n1", "n2"];
const times = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"];
/** Shared, as the parts of pods that come through projections are. */
const containers: readonly (readonly Container[])[] = [
  [{ name: "app", resources: { requests: { cpu: "100m" }, limits: { cpu: "1" } } }],
  [{ name: "app", resources: { requests: { memory: "1Gi" } }, ports: [{ hostPort: 80 }] }],
];
const volumes: readonly (readonly Volume[])[] = [
  [{ name: "v", persistentVolumeClaim: { claimName: "pvc0" } }],
  [{ name: "v", persistentVolumeClaim: { claimName: "pvc1" } }],
];
const daemonOwner = [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "ds0", uid: "uid-ds0", controller: true }];

const someOf = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

const claims = fc
  .record({
    id: someOf(undefined, ...ids),
    pool: someOf("p", "q"),
    isDeleting: fc.boolean(),
    isForeign: fc.constant(false),
    created: someOf(...times),
    capacity: someOf({ cpu: "4" }, { cpu: "8", memory: "1Gi" }),
  })
  .chain((facts) => someOf("c0", "c1", "c2").map((name) => claim(name, facts)));

const nodes = fc
  .record({
    id: someOf(undefined, ...ids),
    pool: someOf(undefined, "p", "q"),
    stage: someOf("fresh" as const, "registered" as const, "initialized" as const),
    isDeleting: fc.boolean(),
    isBare: fc.boolean(),
    created: someOf(...times),
    capacity: someOf({ cpu: "4" }, { cpu: "0", memory: "2Gi" }),
  })
  .chain((facts) => someOf(...nodeNames).map((name) => node(name, facts)));

const pods = fc
  .record({
    name: someOf("p0", "p1", "p2", "p3", "p4"),
    nodeName: someOf(undefined, ...nodeNames),
    containers: someOf(...containers),
    volumes: someOf(undefined, ...volumes),
    phase: someOf("Pending", "Running", "Running", "Succeeded"),
    ownerReferences: someOf(undefined, daemonOwner),
    created: someOf(...times),
    reason: someOf(undefined, "Unschedulable"),
    grown: someOf(undefined, "2"),
  })
  .map(({ name, nodeName, phase, ownerReferences, created, reason, grown, ...spec }): Pod => {
    const statuses = grown && [{ name: "app", resources: { requests: { cpu: grown } } }];
    return {
      metadata: { name, namespace: "default", creationTimestamp: created, ownerReferences },
      spec: { ...spec, nodeName },
      status: {
        phase,
        conditions: [{ type: "PodScheduled", status: "False", reason }],
        ...(statuses && { containerStatuses: statuses }),
      },
    };
  });

const csiNodes = fc
  .record({ name: someOf(...nodeNames), count: fc.nat(3) })
  .map(
    ({ name, count }): CsiNode => ({ metadata: { name }, spec: { drivers: [{ name: "d0", allocatable: { count } }] } }),
  );
const volumeClaims = fc
  .record({ name: someOf("pvc0", "pvc1"), volumeName: someOf(undefined, "pv0", "pv1"), isOfClass: fc.boolean() })
  .map(
    ({ name, volumeName, isOfClass }): PersistentVolumeClaim => ({
      metadata: { name, namespace: "default" },
      spec: { volumeName, ...(isOfClass && { storageClassName: "class" }) },
    }),
  );
const disks = fc
  .record({ name: someOf("pv0", "pv1"), driver: someOf("d0", "d1") })
  .map(({ name, driver }): PersistentVolume => ({ metadata: { name }, spec: { csi: { driver } } }));
const storageClasses = someOf("d0", "d1").map(
  (provisioner): StorageClass => ({ metadata: { name: "class" }, provisioner }),
);

const stepOf = <K extends Kind>(kind: K, object: fc.Arbitrary<Kinds[K]>): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constant(kind),
    object,
    isGone: fc.boolean(),
    look: fc.boolean(),
  }) as unknown as fc.Arbitrary<Step>;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: stepOf("claim", claims) },
  { weight: 3, arbitrary: stepOf("node", nodes) },
  { weight: 5, arbitrary: stepOf("pod", pods) },
  stepOf("daemonSet", someOf("ds0", "ds1").map(daemonSet)),
  stepOf("csiNode", csiNodes),
  stepOf("volumeClaim", volumeClaims),
  stepOf("volume", disks),
  stepOf("storageClass", storageClasses),
);

describe("cluster state, told in any order", () => {
  it("02 §2 03:S-4 believes what the objects that are left say", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { cluster } = emptyState();
        const world = new World();
        for (const one of steps) {
          tell(cluster, one);
          world.take(one);
          if (one.look) cluster.snapshot();
        }
        expect(believed(cluster)).toEqual(world.slowly());
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("02 §2 ends up the same whatever came first", () => {
    const puts = fc.uniqueArray(step, {
      maxLength: 30,
      selector: ({ kind, object }) => `${kind} ${object.metadata.name}`,
    });
    const shuffled = puts.chain((steps) =>
      fc.tuple(fc.constant(steps), fc.shuffledSubarray(steps, { minLength: steps.length })),
    );
    fc.assert(
      fc.property(shuffled, (orders) => {
        const [first, second] = orders.map((steps) => {
          const { cluster } = emptyState();
          for (const one of steps) {
            tell(cluster, { ...one, isGone: false });
            if (one.look) cluster.snapshot();
          }
          return believed(cluster);
        });
        expect(second).toEqual(first);
      }),
      { numRuns: runs(5_000) },
    );
  });
});

function tell(cluster: ClusterState, { kind, object, isGone }: Step): void {
  const change = `${kind}${isGone ? "Gone" : "Changed"}` as const;
  (cluster[change] as (object: Kinds[Kind]) => void)(object);
}

function believed(cluster: ClusterState): unknown {
  const { nodes: machines, boundPods, pendingPods, nodesByName, daemons } = cluster.snapshot();
  return {
    machines: machines.map(({ existing, pods: on, isBeingDeleted: leaves }) => ({ existing, on, leaves })),
    boundPods,
    pendingPods,
    nodesByName: sorted(nodesByName),
    daemons,
    totals: ["p", "q"].map((pool) => written(cluster.poolTotals(pool))),
    unlaunched: cluster.unlaunchedClaims(),
  };
}

/** The objects there are, and the slow and obvious way to what they mean. */
class World {
  readonly #objects = new Map<string, Step>();

  take(one: Step): void {
    const key = `${one.kind} ${one.object.metadata.name}`;
    if (one.isGone) this.#objects.delete(key);
    else this.#objects.set(key, one);
  }

  slowly(): unknown {
    const pods = this.#all("pod").sort(by(({ metadata }) => namespacedName(metadata)));
    const age = ({ metadata }: { metadata: ObjectMeta }) => `${metadata.creationTimestamp} ${metadata.name}`;
    const [claims, nodes] = [this.#all("claim").sort(by(age)), this.#all("node").sort(by(age))];
    const volumes = {
      claims: new Map(this.#all("volumeClaim").map((one) => [namespacedName(one.metadata), one])),
      volumes: byName(this.#all("volume")),
      classes: byName(this.#all("storageClass")),
    };
    const csiNodes = byName(this.#all("csiNode"));
    const claimOf = new Map(claims.map((one) => [one.status?.providerID ?? "", one])); // the newest comes last
    const nodeOf = new Map(nodes.map((one) => [trackingIdOf(one) ?? "", one]));
    const ids = [...new Set([...claimOf.keys(), ...nodeOf.keys()])].filter((id) => id !== "").sort();
    const machines = ids.map((providerId) => {
      const pair = { claim: claimOf.get(providerId), node: nodeOf.get(providerId) };
      const name = pair.node?.metadata.name ?? "";
      const on = pods.filter((pod) => pod.spec.nodeName === name && !isTerminalPod(pod));
      const requests = (some: readonly Pod[]) => mergeResources(...some.map((pod) => podRequests(pod)));
      const existing = existingNodeOf({
        ...pair,
        ...nodeSizeOf(pair),
        providerId,
        pods: on,
        podRequests: requests(on),
        daemonRequests: requests(on.filter(isOwnedByDaemonSet)),
        volumes,
        csiNode: csiNodes.get(name),
      });
      return { existing, on, leaves: isNodeBeingDeleted(pair) };
    });
    const daemonPods = pods.filter(isOwnedByDaemonSet).sort(by(({ metadata }) => `${metadata.creationTimestamp}`));
    const newestDaemon = daemonPods.find(
      ({ metadata }) => metadata.creationTimestamp === daemonPods.at(-1)?.metadata.creationTimestamp,
    );
    const daemons = this.#all("daemonSet")
      .sort(by(({ metadata }) => metadata.name ?? ""))
      .map(({ metadata: { name, namespace, uid }, spec: { template } }) =>
        uid === daemonOwner[0]?.uid && newestDaemon !== undefined
          ? newestDaemon
          : { metadata: { name, namespace }, spec: template.spec },
      );
    return {
      machines,
      boundPods: pods.filter(({ spec }) => spec.nodeName !== undefined),
      pendingPods: pods.filter(isProvisionable),
      nodesByName: sorted(new Map(nodes.map((one) => [one.metadata.name ?? "", placedNodeOf(one)]))),
      daemons,
      totals: ["p", "q"].map((pool) =>
        written(
          mergeResources(
            ...machines
              .filter(({ existing, leaves }) => !leaves && existing.nodePool === pool)
              .map(({ existing }) => existing.capacity),
          ),
        ),
      ),
      unlaunched: claims.flatMap(({ metadata, status }) => (status?.providerID ? [] : [metadata.name ?? ""])).sort(),
    };
  }

  #all<K extends Kind>(kind: K): Kinds[K][] {
    return [...this.#objects.values()].flatMap((one) => (one.kind === kind ? [one.object as Kinds[K]] : []));
  }
}

function byName<T extends { readonly metadata: ObjectMeta }>(objects: readonly T[]): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [object.metadata.name ?? "", object]));
}

function by<T>(keyOf: (one: T) => string): (a: T, b: T) => number {
  return (a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0);
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(by(([name]) => name));
}
