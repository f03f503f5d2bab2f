import fc from "fast-check";
import { groups, labels } from "../../src/api/labels.ts";
import type { KubeObject } from "../../src/api/object.ts";
import { stored } from "./fake-cluster.ts";

/** Small clusters full of names of their own, most of which are referred to. */

const word = fc.constantFrom("alpha", "default", "gamma-1", "payments", "zz9", "Beta_2", "m");
const namespace = fc.constantFrom("default", "payments", "alpha", "kube-system");
const zone = fc.constantFrom("test-zone-a", "test-zone-b", "test-zone-c");
const topology = fc.constantFrom("rack", "acme.io/rack", labels.zone, labels.hostname, "acme.io/team");
const effect = fc.constantFrom("NoSchedule", "NoExecute", "PreferNoSchedule");
const ownKey = fc.constantFrom("acme.io/team", "rack", "acme.io/rack");

const expression = fc.oneof(
  fc
    .tuple(ownKey, fc.constantFrom("In", "NotIn"), some(word))
    .map(([key, operator, values]) => ({ key, operator, values })),
  fc.tuple(ownKey, fc.constantFrom("Exists", "DoesNotExist")).map(([key, operator]) => ({ key, operator })),
  fc
    .tuple(fc.constantFrom("Gt", "Lt"), fc.constantFrom("3", "10"))
    .map(([operator, bound]) => ({ key: "acme.io/generation", operator, values: [bound] })),
  some(zone).map((values) => ({ key: labels.zone, operator: "In", values })),
);

const podSelector = fc.oneof(
  word.map((app) => ({ matchLabels: { app } })),
  some(word).map((values) => ({ matchExpressions: [{ key: "app", operator: "In", values }] })),
);

const podTerm = fc.record(
  {
    topologyKey: topology,
    labelSelector: podSelector,
    namespaces: some(namespace),
    namespaceSelector: fc.oneof(
      word.map((owner) => ({ matchLabels: { owner } })),
      namespace.map((name) => ({ matchLabels: { "kubernetes.io/metadata.name": name } })),
    ),
  },
  { requiredKeys: ["topologyKey", "labelSelector"] },
);

const podPart = fc.oneof(
  fc.tuple(ownKey, word).map(([key, value]) => ({ nodeSelector: { [key]: value } })),
  some(expression).map((matchExpressions) => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  })),
  fc
    .tuple(fc.constantFrom("podAffinity", "podAntiAffinity"), podTerm)
    .map(([kind, term]) => ({ affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } })),
  fc
    .tuple(topology, podSelector, fc.constantFrom("DoNotSchedule", "ScheduleAnyway"))
    .map(([topologyKey, labelSelector, whenUnsatisfiable]) => ({
      topologySpreadConstraints: [{ topologyKey, maxSkew: 1, whenUnsatisfiable, labelSelector }],
    })),
  fc.tuple(ownKey, word, effect).map(([key, value, one]) => ({ tolerations: [{ key, value, effect: one }] })),
  fc.constantFrom("3", "10").map((value) => ({ tolerations: [{ key: "acme.io/rank", operator: "Gt", value }] })),
  fc.constantFrom("disk-0", "disk-1").map((claimName) => ({
    volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
  })),
  fc.constant({ volumes: [{ name: "scratch", ephemeral: { volumeClaimTemplate: { spec: {} } } }] }),
  word.map((priorityClassName) => ({ priorityClassName })),
);

const podSpec = fc
  .tuple(fc.constantFrom("500m", "1", "3"), fc.array(podPart, { maxLength: 2 }))
  .map(([cpu, parts]) => Object.assign({ containers: [{ name: "main", resources: { requests: { cpu } } }] }, ...parts));

const pod = fc.record({ space: namespace, app: word, spec: podSpec });

const pool = fc.record({
  weight: fc.constantFrom(1, 1, 7),
  team: word,
  racks: some(word),
  generation: fc.constantFrom("2", "5", "12"),
  taint: fc.option(fc.tuple(ownKey, word, effect), { nil: undefined }),
  rank: fc.option(fc.constantFrom("2", "7", "20"), { nil: undefined }),
});

const node = fc.record({
  name: fc.constantFrom("ip-10-0-0-1.internal", "n2", "node-10", "zeta"),
  zone,
  team: word,
  rack: word,
  isOurs: fc.boolean(),
  runs: fc.array(fc.tuple(word, namespace), { maxLength: 2 }),
});

export const cluster: fc.Arbitrary<readonly KubeObject[]> = fc
  .record({
    pods: fc.array(pod, { minLength: 1, maxLength: 7 }),
    pools: fc.array(pool, { minLength: 1, maxLength: 3 }),
    nodes: fc.uniqueArray(node, { maxLength: 3, selector: ({ name }) => name }),
    set: fc.option(podSpec, { nil: undefined }),
    owner: word,
  })
  .map(({ pods, pools, nodes, set, owner }) =>
    stored([
      ...pools.map(poolObject),
      ...nodes.flatMap(nodeObjects),
      ...["payments", "alpha"].map((name) => object("v1", "Namespace", { metadata: { name, labels: { owner } } })),
      ...pods.flatMap(({ space, app, spec }, index) => podObjects({ space, app, spec, name: `${app}-${index}` })),
      ...(set === undefined ? [] : setObjects(set)),
      ...["alpha", "zz9"].map((name, index) =>
        object("scheduling.k8s.io/v1", "PriorityClass", { metadata: { name }, value: 10 * index } as never),
      ),
      object("storage.k8s.io/v1", "StorageClass", {
        metadata: { name: "fast" },
        provisioner: "ebs.csi.aws.com",
        volumeBindingMode: "WaitForFirstConsumer",
      } as never),
    ]),
  );

function poolObject({ weight, team, racks, generation, taint, rank }: PoolDraft, index: number): KubeObject {
  const taints = [
    ...(taint === undefined ? [] : [{ key: taint[0], value: taint[1], effect: taint[2] }]),
    ...(rank === undefined ? [] : [{ key: "acme.io/rank", value: rank, effect: "NoSchedule" }]),
  ];
  return object("karpenter.sh/v1", "NodePool", {
    metadata: { name: ["default", "burst", "zonal"][index] ?? "" },
    spec: {
      weight,
      template: {
        metadata: { labels: { "acme.io/team": team, "acme.io/generation": generation } },
        spec: {
          nodeClassRef: { group: groups.kwok, kind: "KWOKNodeClass", name: "default" },
          requirements: [
            { key: labels.os, operator: "In", values: ["linux"] },
            { key: "rack", operator: "In", values: [...new Set(racks)] },
            { key: "acme.io/rack", operator: "In", values: [...new Set(racks)] },
          ],
          ...(taints.length > 0 && { taints }),
        },
      },
    },
  });
}

function nodeObjects({ name, zone: where, team, rack, isOurs, runs }: NodeDraft): readonly KubeObject[] {
  const own = { "acme.io/team": team, rack, "acme.io/generation": "5" };
  const typed = { [labels.zone]: where, [labels.instanceType]: "c-4x-amd64-linux", [labels.nodePool]: "default" };
  const spec = { nodeClassRef: { group: groups.kwok, kind: "KWOKNodeClass", name: "default" }, requirements: [] };
  const size = { cpu: "4", memory: "8Gi", pods: "20" };
  const bound = runs.map(([app, space], index) =>
    object("v1", "Pod", {
      metadata: { name: `${app}-on-${name.slice(0, 5)}-${index}`, namespace: space, labels: { app } },
      spec: { nodeName: name, containers: [{ name: "main", resources: { requests: { cpu: "1" } } }] },
    }),
  );
  return [
    ...(isOurs
      ? [object("karpenter.sh/v1", "NodeClaim", { metadata: { name, labels: { ...own, ...typed } }, spec })]
      : []),
    object("v1", "Node", {
      metadata: { name, labels: isOurs ? { ...own, ...typed } : { ...own, [labels.zone]: where } },
      status: { capacity: size, allocatable: size },
    }),
    ...bound,
  ];
}

interface PodSource {
  readonly space: string;
  readonly app: string;
  readonly spec: object;
  readonly name: string;
}

/** A pod, and the claims it may ask for. */
function podObjects({ space, app, spec, name }: PodSource): readonly KubeObject[] {
  const { volumes = [] } = spec as { volumes?: readonly { ephemeral?: unknown; persistentVolumeClaim?: unknown }[] };
  const own = volumes.some(({ ephemeral }) => ephemeral !== undefined) ? [claim(space, `${name}-scratch`)] : [];
  return [
    object("v1", "Pod", { metadata: { name, namespace: space, labels: { app } }, spec }),
    ...own,
    ...(volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined) && name.endsWith("-0")
      ? [claim(space, "disk-0")]
      : []),
  ];
}

/** A set whose pods are gone, but not their claims. */
function setObjects(spec: object): readonly KubeObject[] {
  return [
    object("apps/v1", "StatefulSet", {
      metadata: { name: "quartz", namespace: "alpha" },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: "zz9" } },
        template: { metadata: { labels: { app: "zz9" } }, spec },
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { storageClassName: "fast" } }],
      },
    }),
    claim("alpha", "data-quartz-0"),
  ];
}

function claim(space: string, name: string): KubeObject {
  return object("v1", "PersistentVolumeClaim", {
    metadata: { name, namespace: space },
    spec: { storageClassName: "fast" },
  });
}

type PoolDraft = typeof pool extends fc.Arbitrary<infer T> ? T : never;
type NodeDraft = typeof node extends fc.Arbitrary<infer T> ? T : never;

function object(apiVersion: string, kind: string, rest: Omit<KubeObject, "apiVersion" | "kind">): KubeObject {
  return { apiVersion, kind, ...rest };
}

/** One or two. */
function some<T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(one, { minLength: 1, maxLength: 2 });
}
