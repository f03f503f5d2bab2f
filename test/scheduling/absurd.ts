import fc from "fast-check";
import { labels } from "../../src/api/labels.ts";
import { type InstanceType, noOverhead } from "../../src/core/instance-type.ts";
import { Requirement } from "../../src/core/requirement.ts";
import { Requirements } from "../../src/core/requirements.ts";
import type { Resources } from "../../src/core/resources.ts";
import type { SchedulingProblem } from "../../src/core/scheduling/problem.ts";
import { Quantity } from "../../src/util/quantity.ts";

/** A change to a problem that no sane cluster would show, and that validation lets through. */
export interface Absurdity {
  readonly name: string;
  readonly apply: (problem: SchedulingProblem) => SchedulingProblem;
}

const quantity = (text: string): Quantity => Quantity.parse(text);
const huge = quantity("9223372036854775807");

function withTypes(
  problem: SchedulingProblem,
  change: (type: InstanceType, index: number) => InstanceType | readonly InstanceType[],
): SchedulingProblem {
  const pools = problem.pools.map((pool) => ({ ...pool, instanceTypes: pool.instanceTypes.flatMap(change) }));
  return { ...problem, pools };
}

function withCapacity(problem: SchedulingProblem, capacity: (own: Resources) => Resources): SchedulingProblem {
  return withTypes(problem, (type) => ({ ...type, capacity: capacity(type.capacity) }));
}

function withPods(problem: SchedulingProblem, spec: object, metadata: object = {}): SchedulingProblem {
  const pods = problem.pods.map((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, ...metadata },
    spec: { ...pod.spec, ...spec },
  }));
  return { ...problem, pods };
}

function withPools(problem: SchedulingProblem, changes: object): SchedulingProblem {
  const pools = problem.pools.map(({ nodePool, instanceTypes }) => ({
    instanceTypes,
    nodePool: { ...nodePool, spec: { ...nodePool.spec, ...changes } },
  }));
  return { ...problem, pools };
}

function requesting(requests: Readonly<Record<string, string>>) {
  return { containers: [{ name: "app", resources: { requests } }] };
}

const spreadOver = (topologyKey: string, more: object = {}) => ({
  topologySpreadConstraints: [
    { topologyKey, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector: {}, ...more },
  ],
});

/** Labels every object inherits, as names of labels. */
const inherited = ["constructor", "toString", "hasOwnProperty", "valueOf"];

export const absurdities: readonly Absurdity[] = [
  { name: "types of no size", apply: (one) => withCapacity(one, () => ({})) },
  {
    name: "types of size zero",
    apply: (one) =>
      withCapacity(one, (own) => Object.fromEntries(Object.keys(own).map((name) => [name, Quantity.zero]))),
  },
  {
    name: "types that keep more than they have",
    apply: (one) =>
      withTypes(one, (type) => ({ ...type, overhead: { ...noOverhead, systemReserved: { cpu: huge, memory: huge } } })),
  },
  {
    name: "types of fractions of a nano",
    apply: (one) => withCapacity(one, (own) => ({ ...own, cpu: quantity("1n"), memory: quantity("1m") })),
  },
  {
    name: "types of the largest size",
    apply: (one) => withCapacity(one, () => ({ cpu: huge, memory: huge, pods: huge })),
  },
  { name: "types without offerings", apply: (one) => withTypes(one, (type) => ({ ...type, offerings: [] })) },
  {
    name: "types that say nothing of themselves",
    apply: (one) =>
      withTypes(one, (type) => ({
        ...type,
        requirements: Requirements.none,
        offerings: type.offerings.map((offering) => ({ ...offering, requirements: Requirements.none })),
      })),
  },
  {
    name: "prices beyond reason",
    apply: (one) =>
      withTypes(one, (type, index) => ({
        ...type,
        offerings: type.offerings.map((offering) => ({
          ...offering,
          price: [0, Number.POSITIVE_INFINITY, Number.NaN, 1e308][index % 4] ?? 0,
        })),
      })),
  },
  { name: "every type twice", apply: (one) => withTypes(one, (type) => [type, type]) },
  { name: "empty catalogues", apply: (one) => withTypes(one, () => []) },
  { name: "no pools", apply: (one) => ({ ...one, pools: [] }) },
  { name: "no pods", apply: (one) => ({ ...one, pods: [] }) },
  {
    name: "nodes that are overdrawn",
    apply: (one) => ({
      ...one,
      nodes: one.nodes.map((node) => ({
        ...node,
        available: { cpu: quantity("-5"), memory: quantity("-1Gi"), "example.com/x": quantity("-1n") },
        daemonRequests: { cpu: huge },
      })),
    }),
  },
  {
    name: "nodes with nothing at all",
    apply: (one) => ({
      ...one,
      nodes: one.nodes.map((node) => ({ ...node, labels: {}, capacity: {}, available: {}, daemonRequests: {} })),
    }),
  },
  {
    name: "nodes that share a hostname",
    apply: (one) => ({ ...one, nodes: one.nodes.map((node) => ({ ...node, hostname: "same" })) }),
  },
  { name: "nodes whose Nodes are unknown", apply: (one) => ({ ...one, nodesByName: new Map() }) },
  { name: "no namespaces", apply: (one) => ({ ...one, namespaces: [] }) },
  { name: "limits below zero", apply: (one) => withPools(one, { limits: { cpu: "-1", nodes: "-3", memory: "0" } }) },
  {
    name: "limits of odd things",
    apply: (one) => withPools(one, { limits: { constructor: "1", nodes: "500m", "a.b/c": "1Ei" } }),
  },
  {
    name: "pods of the largest size",
    apply: (one) => withPods(one, requesting({ cpu: "9223372036854775807", memory: "8Ei" })),
  },
  { name: "pods of the least size", apply: (one) => withPods(one, requesting({ cpu: "1n", memory: "1n" })) },
  {
    name: "pods that ask for less than nothing",
    apply: (one) => withPods(one, requesting({ cpu: "-1", memory: "-1Gi" })),
  },
  { name: "pods without containers", apply: (one) => withPods(one, { containers: [] }) },
  {
    name: "pods that say nothing",
    apply: (one) => ({
      ...one,
      pods: one.pods.map(({ metadata }) => ({ metadata: { name: metadata.name }, spec: {} })) as never,
    }),
  },
  { name: "pods of one name", apply: (one) => withPods(one, {}, { name: "same", uid: "same" }) },
  {
    name: "resources of inherited names",
    apply: (one) => withPods(one, requesting(Object.fromEntries(inherited.map((name) => [name, "1"])))),
  },
  {
    name: "labels of inherited names",
    apply: (one) =>
      withPods(
        withPools(one, {}),
        { nodeSelector: { constructor: "toString" }, ...spreadOver("hasOwnProperty") },
        { labels: Object.fromEntries(inherited.map((name) => [name, name])) },
      ),
  },
  { name: "spread over an inherited name", apply: (one) => withPods(one, spreadOver("constructor")) },
  {
    name: "a skew beyond counting",
    apply: (one) => withPods(one, spreadOver(labels.zone, { maxSkew: 2 ** 31 - 1, minDomains: 2 ** 31 - 1 })),
  },
  {
    name: "selectors that say nothing",
    apply: (one) =>
      withPods(one, spreadOver(labels.zone, { labelSelector: { matchLabels: {}, matchExpressions: [] } })),
  },
  {
    name: "bounds that leave nothing",
    apply: (one) =>
      withPods(one, {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "team", operator: "Gt", values: ["9223372036854775807"] },
                    { key: "team", operator: "Lt", values: ["0"] },
                    { key: labels.hostname, operator: "DoesNotExist" },
                  ],
                },
                {},
              ],
            },
          },
        },
      }),
  },
  {
    name: "affinity without terms",
    apply: (one) =>
      withPods(one, {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "constructor" }] },
        },
      }),
  },
  { name: "a hundred zones", apply: (one) => withZones(one, 100) },
];

/** Every type in as many zones. */
export function withZones(problem: SchedulingProblem, count: number): SchedulingProblem {
  const zones = Array.from({ length: count }, (_, at) => `zone-${at}`);
  return withTypes(problem, (type) => ({
    ...type,
    requirements: type.requirements.replace(Requirement.in(labels.zone, zones)),
    offerings: zones.map((zone) => ({
      requirements: Requirements.of(
        Requirement.in(labels.zone, [zone]),
        Requirement.in(labels.capacityType, ["on-demand"]),
      ),
      price: 1,
      available: true,
    })),
  }));
}

/** None to three of them. */
export const someAbsurdities: fc.Arbitrary<readonly Absurdity[]> = fc.subarray([...absurdities], { maxLength: 3 });
