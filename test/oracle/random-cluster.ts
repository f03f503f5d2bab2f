import { Random } from "../../src/util/random.ts";

/** A cluster for both implementations: objects as a scenario writes them, and options of the command line. */
export interface RandomCluster {
  readonly objects: readonly object[];
  readonly hasSpotToSpot: boolean;
}

const now = Date.parse("2026-01-15T12:00:00Z");
const families = ["c", "s", "m"];
const sizes = ["1x", "2x", "4x", "8x", "16x"];
const zones = ["test-zone-a", "test-zone-b", "test-zone-c"];
const apps = ["web", "db", "job"];

/** The same seed always gives the same cluster. */
export function randomCluster(seed: number): RandomCluster {
  const draw = new Draws(new Random(`disruption ${seed}`));
  const pools = Array.from({ length: draw.between(1, 3) }, (_, index) => poolDraft(draw, index));
  const nodes = Array.from({ length: draw.between(1, 8) }, (_, index) => nodeObjects(draw, { index, pools })).flat();
  const names = nodes.flatMap((object) => (isNode(object) ? [object.metadata.name] : []));
  const pods = names.flatMap((node) =>
    Array.from({ length: draw.between(0, 4) }, (_, index) => podOn(draw, { node, index })),
  );
  const pending = Array.from({ length: draw.chance(0.25) ? draw.between(1, 2) : 0 }, (_, index) =>
    podNamed(draw, `pending-${index}`, {}),
  );
  return {
    objects: [...pools.map(({ object }) => object), ...daemons(draw), ...nodes, ...pods, ...pending, ...budgets(draw)],
    hasSpotToSpot: draw.chance(0.3),
  };
}

class Draws {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  between(low: number, high: number): number {
    return low + this.#random.int(high - low + 1);
  }

  of<T>(items: readonly T[]): T {
    return items[this.#random.int(items.length)] as T;
  }

  /** The value with this chance, else nothing. */
  maybe<T extends object>(share: number, value: () => T): T | Record<string, never> {
    return this.chance(share) ? value() : {};
  }
}

interface PoolDraft {
  readonly name: string;
  readonly isStatic: boolean;
  readonly gracePeriod: object;
  readonly object: object;
}

function poolDraft(draw: Draws, index: number): PoolDraft {
  const name = `pool-${index}`;
  const isStatic = index > 0 && draw.chance(0.2);
  const gracePeriod = draw.maybe(0.2, () => ({ terminationGracePeriod: "10m" }));
  const spec = {
    ...(isStatic && {
      replicas: draw.between(0, 4),
      ...draw.maybe(0.5, () => ({ limits: { nodes: String(draw.between(1, 5)) } })),
    }),
    ...(!isStatic && draw.maybe(0.2, () => ({ weight: draw.between(1, 100) }))),
    ...(!isStatic && draw.maybe(0.15, () => ({ limits: { cpu: String(draw.between(2, 40)) } }))),
    disruption: {
      consolidateAfter: draw.of(["0s", "0s", "0s", "30m", "Never"]),
      consolidationPolicy: draw.of(["WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "Balanced", "WhenEmpty"]),
      budgets: draw.of<readonly object[]>([
        [{ nodes: "100%" }],
        [{ nodes: "100%" }],
        [{ nodes: String(draw.between(0, 3)) }],
        [
          { nodes: `${draw.between(1, 10) * 10}%` },
          { nodes: "1", reasons: [draw.of(["Empty", "Drifted", "Underutilized"])] },
        ],
        [{ nodes: "0", schedule: `0 ${draw.between(8, 13)} * * *`, duration: "2h" }],
      ]),
    },
    template: {
      spec: {
        ...gracePeriod,
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        requirements: [
          { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
          { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
          {
            key: "karpenter.sh/capacity-type",
            operator: "In",
            values: draw.of([["on-demand"], ["spot"], ["spot", "on-demand"]]),
          },
          ...(draw.chance(0.2)
            ? [{ key: "node.kubernetes.io/instance-type", operator: "Exists", minValues: draw.between(2, 12) }]
            : []),
          ...(draw.chance(0.3)
            ? [{ key: "topology.kubernetes.io/zone", operator: "In", values: zones.slice(0, draw.between(1, 3)) }]
            : []),
        ],
      },
    },
  };
  return {
    name,
    isStatic,
    gracePeriod,
    object: { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name }, spec },
  };
}

function ago(minutes: number): string {
  return new Date(now - minutes * 60_000).toISOString().replace(".000", "");
}

interface NamedNode {
  readonly kind: "Node";
  readonly metadata: { readonly name: string };
}

function isNode(object: object): object is NamedNode {
  return (object as { readonly kind?: string }).kind === "Node";
}

function nodeObjects(
  draw: Draws,
  { index, pools }: { readonly index: number; readonly pools: readonly PoolDraft[] },
): readonly object[] {
  const name = `n${index}`;
  const pool = draw.of(pools);
  const labels = {
    "karpenter.sh/nodepool": draw.chance(0.03) ? "gone" : pool.name,
    "node.kubernetes.io/instance-type": draw.chance(0.03)
      ? "old-type"
      : `${draw.of(families)}-${draw.of(sizes)}-amd64-linux`,
    "topology.kubernetes.io/zone": draw.of(zones),
    "karpenter.sh/capacity-type": draw.of(["on-demand", "on-demand", "spot"]),
  };
  const condition = (type: string, status: string, minutes: number) => ({
    type,
    status,
    reason: type,
    message: "",
    lastTransitionTime: ago(minutes),
  });
  const conditions = [
    ...(draw.chance(0.15) ? [condition("Drifted", "True", draw.between(1, 500))] : []),
    ...(draw.chance(0.05) ? [condition("Initialized", "False", 5)] : []),
    ...(draw.chance(0.1) ? [condition("Consolidatable", "True", 5)] : []),
  ];
  const status = {
    ...(conditions.length > 0 && { conditions }),
    ...draw.maybe(0.2, () => ({ lastPodEventTime: ago(draw.between(1, 60)) })),
  };
  const claim = {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name, labels, ...draw.maybe(0.05, () => ({ deletionTimestamp: ago(1) })) },
    ...(Object.keys(pool.gracePeriod).length > 0 && {
      spec: {
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        requirements: [],
        expireAfter: "720h",
        ...pool.gracePeriod,
      },
    }),
    ...(Object.keys(status).length > 0 && { status }),
  };
  if (draw.chance(0.05)) return [claim];
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      ...draw.maybe(0.05, () => ({ annotations: { "karpenter.sh/do-not-disrupt": draw.of(["true", "true", "1h"]) } })),
    },
    ...draw.maybe(0.06, () => ({ status: { conditions: [{ type: "Ready", status: "False" }] } })),
    ...draw.maybe(0.06, () => ({ spec: { taints: [{ key: "dedicated", value: "x", effect: "NoSchedule" }] } })),
  };
  return draw.chance(0.04) ? [node] : [claim, node];
}

function podOn(draw: Draws, { node, index }: { readonly node: string; readonly index: number }): object {
  const annotations = {
    ...draw.maybe(0.04, () => ({ "karpenter.sh/do-not-disrupt": draw.of(["true", "1h", "10m", "false"]) })),
    ...draw.maybe(0.08, () => ({
      "controller.kubernetes.io/pod-deletion-cost": draw.of(["-2147483648", "100", "1000000000"]),
    })),
  };
  const owner = draw.chance(0.1) ? draw.of(["DaemonSet", "StatefulSet", "ReplicaSet"]) : undefined;
  return podNamed(draw, `${node}-${index}`, {
    metadata: {
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(owner !== undefined && {
        ownerReferences: [{ apiVersion: "apps/v1", kind: owner, name: "o", uid: "o" }],
      }),
      ...draw.maybe(0.04, () => ({ deletionTimestamp: ago(0) })),
    },
    spec: { nodeName: node },
    ...draw.maybe(0.9, () => ({
      status: {
        phase: draw.of(["Running", "Running", "Running", "Running", "Succeeded", "Pending"]),
        startTime: ago(draw.between(1, 120)),
      },
    })),
  });
}

interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

function podNamed(draw: Draws, name: string, { metadata, spec, status }: PodParts): object {
  const app = draw.of(apps);
  const requests = {
    cpu: draw.of(["100m", "250m", "500m", "1", "2", "3500m"]),
    ...draw.maybe(0.7, () => ({ memory: draw.of(["128Mi", "512Mi", "2Gi", "6Gi"]) })),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app }, ...metadata },
    spec: {
      ...spec,
      containers: [{ name: "app", image: "app", resources: { requests } }],
      ...draw.maybe(0.08, () => ({ priority: draw.of([1_000_000, 100_000_000, -100_000_000]) })),
      ...draw.maybe(0.08, () => ({ nodeSelector: { "topology.kubernetes.io/zone": draw.of(zones) } })),
      ...draw.maybe(0.05, () => ({ nodeSelector: { "karpenter.sh/capacity-type": draw.of(["spot", "on-demand"]) } })),
      ...draw.maybe(0.06, () => ({ tolerations: [{ operator: "Exists" }] })),
      ...draw.maybe(0.08, () => antiAffinity(app)),
      ...draw.maybe(0.08, () => spread(app, draw.of(["kubernetes.io/hostname", "topology.kubernetes.io/zone"]))),
    },
    ...(status !== undefined && { status }),
  };
}

function antiAffinity(app: string): object {
  const term = { labelSelector: { matchLabels: { app } }, topologyKey: "kubernetes.io/hostname" };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

function spread(app: string, topologyKey: string): object {
  const constraint = {
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: { app } },
  };
  return { topologySpreadConstraints: [constraint] };
}

function daemons(draw: Draws): readonly object[] {
  if (!draw.chance(0.3)) return [];
  const requests = { cpu: draw.of(["50m", "200m"]) };
  const template = {
    metadata: { labels: { app: "agent" } },
    spec: { containers: [{ name: "app", image: "app", resources: { requests } }] },
  };
  const spec = { selector: { matchLabels: { app: "agent" } }, template };
  return [{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "agent" }, spec }];
}

function budgets(draw: Draws): readonly object[] {
  return apps.flatMap((app) => {
    if (!draw.chance(0.12)) return [];
    const limit = draw.of<object>([{ maxUnavailable: 1 }, { maxUnavailable: 0 }, { minAvailable: "100%" }]);
    const spec = {
      selector: { matchLabels: { app } },
      ...limit,
      ...draw.maybe(0.3, () => ({ unhealthyPodEvictionPolicy: "AlwaysAllow" })),
    };
    const status = { disruptionsAllowed: draw.between(0, 2), currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    return [{ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: app }, spec, status }];
  });
}
