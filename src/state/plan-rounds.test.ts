import { describe, expect, it } from "vitest";
import { type InstanceTypeBuilder, instanceType } from "../../test/builders/instance-type.ts";
import { labelPolicy } from "../api/label-policy.ts";
import { labels } from "../api/labels.ts";
import type { KubeObject } from "../api/object.ts";
import { completeObjects } from "../core/scenario/complete-objects.ts";
import { defaultSchedulingPolicy } from "../core/scheduling/problem.ts";
import { solve } from "../core/scheduling/solve.ts";
import { planRounds, type RoundsResult } from "./plan-rounds.ts";
import type { PodBinder } from "./scheduler-turns.ts";

const served = { group: "karpenter.kwok.sh", kind: "KWOKNodeClass" };
const nodeClass = { ...served, name: "default" };
const nowMs = Date.parse("2026-01-15T12:00:00Z");
const sizes = [2, 4, 8, 16].map((cpu) => instanceType(`m.${cpu}`).cpu(cpu));

interface Facts {
  readonly rounds?: number;
  readonly types?: readonly InstanceTypeBuilder[];
  readonly bindPods?: PodBinder;
}

function planned(objects: readonly KubeObject[], { rounds = 50, types = sizes, bindPods }: Facts = {}): RoundsResult {
  const built = types.map((type) => type.build());
  const typesFor = () => built;
  return planRounds(
    completeObjects(objects, { typesFor, nowMs, defaultNodeClass: nodeClass }),
    { typesFor, served: [served], labelPolicy: labelPolicy("kwok"), policy: defaultSchedulingPolicy, seed: 1, nowMs },
    { rounds, solve, bindPods },
  );
}

const pool = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name },
  spec: { template: { spec: { nodeClassRef: nodeClass, requirements: [] } }, ...spec },
});

const apart = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: labels.hostname };

const pod = (name: string, cpu = "1", spec: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: "web" } },
  spec: { containers: [{ name: "app", resources: { requests: { cpu } } }], ...spec },
});

/** Pods that share no node. */
const podsApart = (count: number): readonly KubeObject[] =>
  Array.from({ length: count }, (_, index) =>
    pod(`web-${index}`, "1", {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
    }),
  );

const buffer = (replicas: number, cpu: string): readonly KubeObject[] => [
  {
    apiVersion: "v1",
    kind: "PodTemplate",
    metadata: { name: "spare" },
    template: { spec: { containers: [{ name: "app", resources: { requests: { cpu } } }] } },
  } as KubeObject,
  {
    apiVersion: "autoscaling.x-k8s.io/v1alpha1",
    kind: "CapacityBuffer",
    metadata: { name: "spare" },
    spec: { podTemplateRef: { name: "spare" }, replicas },
  },
];

/** Pool, type and pods of every new node. */
function newNodes({ decision }: RoundsResult) {
  return decision.newNodes.map(({ pool: of, instanceTypes: [type], pods }) => [
    of,
    type?.name,
    pods.map(({ metadata }) => metadata.name),
  ]);
}

const refused = ({ decision }: RoundsResult) =>
  decision.refusals.map(({ pod: { metadata }, code }) => [metadata.name, code]);

describe("planRounds", () => {
  it("02:H-1 one round reckons with the largest types, the next ones with what was bought", () => {
    const objects = [pool("p", { limits: { cpu: "16" } }), ...podsApart(8)];
    expect(newNodes(planned(objects, { rounds: 1 }))).toHaveLength(1);
    const all = planned(objects);
    expect(newNodes(all).map(([, type]) => type)).toEqual(Array.from({ length: 8 }, () => "m.2"));
    expect(refused(all)).toEqual([]);
    expect(all.rounds.length).toBeGreaterThan(1);
  });

  it("02:H-1 refuses only what the limit refuses in the end", () => {
    const all = planned([pool("p", { limits: { cpu: "6" } }), ...podsApart(5)]);
    expect(newNodes(all)).toHaveLength(3);
    expect(refused(all)).toEqual([
      ["web-3", "limits"],
      ["web-4", "limits"],
    ]);
    expect(all.rounds.at(-1)?.decision.newNodes).toEqual([]);
  });

  it("02:L-33 a new node has the type, the offering and the price it would be launched with", () => {
    const { decision } = planned([pool("p"), pod("one", "3")]);
    const [node] = decision.newNodes;
    expect(node?.instanceTypes.map(({ name }) => name)).toEqual(["m.4", "m.8", "m.16"]);
    expect([node?.price, node?.offering?.price]).toEqual([0.7, 0.7]);
  });

  it("a single round is enough where every pod is placed", () => {
    expect(planned([pool("p"), pod("one"), pod("two")]).rounds).toHaveLength(1);
  });

  it("says if the last round still changed something", () => {
    const { scenario } = planned([pool("p", { limits: { cpu: "16" } }), ...podsApart(8)], { rounds: 2 });
    expect(scenario.notes).toEqual([{ code: "rounds-not-settled", rounds: 2 }]);
  });

  it("02:Z-2 03:SP-3 static pools get their nodes first, and pods get their room", () => {
    const all = planned([pool("fixed", { replicas: 2 }), pool("p"), pod("small"), pod("large", "12")]);
    expect(newNodes(all)).toEqual([
      ["fixed", "m.2", ["small"]],
      ["fixed", "m.2", []],
      ["p", "m.16", ["large"]],
    ]);
    expect(all.scenario.notes).toEqual([]);
    expect(all.decision.newNodes[0]?.requests["cpu"]?.toNumber()).toBe(1);
  });

  it("03:SP-2 static pools keep within limits.nodes", () => {
    const all = planned([pool("fixed", { replicas: 5, limits: { nodes: "2" } })]);
    expect(newNodes(all)).toHaveLength(2);
    expect(all.scenario.notes).toEqual([
      { code: "static-pool-limited", pool: "fixed", replicas: 5, nodes: 2, by: "limits" },
    ]);
  });

  it("03:SP-3 a hundred million replicas are planned as far as is sensible, and said", () => {
    const all = planned([pool("fixed", { replicas: 100_000_000 })]);
    expect(newNodes(all)).toHaveLength(2_000);
    expect(all.scenario.notes).toMatchObject([{ code: "static-pool-limited", nodes: 2_000, by: "plan" }]);
  });

  it("02:Y-6 replicas take what is left of a reservation, and then other capacity", () => {
    const reserved = instanceType("r.2").cpu(2).reserved("cr-1", { zone: "a", capacity: 2 });
    const all = planned([pool("fixed", { replicas: 3 })], { types: [reserved, ...sizes] });
    const kinds = all.decision.newNodes.map(
      ({ offering }) => offering?.requirements.get(labels.capacityType).singleValue,
    );
    expect(kinds).toEqual(["reserved", "reserved", "spot"]);
  });

  it("02:P-32 without a dynamic pool pods still run where there is room", () => {
    const all = planned([pool("fixed", { replicas: 1 }), pod("small"), pod("large", "12")]);
    expect(newNodes(all)).toEqual([["fixed", "m.2", ["small"]]]);
    expect(refused(all)).toEqual([["large", "no-pools"]]);
  });

  it("a static pool that nothing can be launched for is named", () => {
    const requirements = [{ key: labels.zone, operator: "In", values: ["nowhere"] }];
    const spec = { replicas: 1, template: { spec: { nodeClassRef: nodeClass, requirements } } };
    expect(planned([pool("fixed", spec)]).scenario.notes).toEqual([{ code: "pool-not-launchable", pool: "fixed" }]);
  });

  it("02:B-6 buffers hold their capacity, where the last round has it", () => {
    const all = planned([pool("p", { limits: { cpu: "8" } }), ...buffer(2, "1"), pod("one", "1500m")]);
    const pods = all.decision.newNodes.flatMap((node) => node.pods.map(({ metadata }) => metadata.name));
    expect(pods.sort()).toEqual(["capacity-buffer-spare-1", "capacity-buffer-spare-2", "one"]);
    expect(refused(all)).toEqual([]);
  });

  it("02:B-6 the scheduler binds refused pods into the room of a buffer, once nodes have joined", () => {
    const objects = [pool("p", { limits: { cpu: "4" } }), ...buffer(1, "3"), pod("one", "2")];
    const asked: string[][] = [];
    const all = planned(objects, {
      bindPods: (pods, { nodes }, { areRetried }) => {
        asked.push([String(areRetried), ...pods.map(({ metadata }) => metadata.name ?? "")]);
        return nodes.slice(0, 1).map(({ name }) => ({ node: name, pods }));
      },
    });
    expect(asked).toEqual([["true", "one"]]);
    expect(newNodes(all)).toEqual([["p", "m.4", ["one"]]]);
    expect(refused(all)).toEqual([["capacity-buffer-spare-1", "limits"]]);
  });

  it("02:P-1 pods that the scheduler binds to running nodes reach no round", () => {
    const node: readonly KubeObject[] = [
      {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: { name: "old", labels: { [labels.nodePool]: "p", [labels.instanceType]: "m.4" } },
      },
      { apiVersion: "v1", kind: "Node", metadata: { name: "old" } },
    ];
    const all = planned([pool("p"), ...node, pod("one"), pod("two", "4")], {
      bindPods: (pods) => [{ node: "old", pods: pods.slice(0, 1) }],
    });
    expect(all.decision.placements.map(({ node: on, pods }) => [on, pods[0]?.metadata.name])).toEqual([["old", "one"]]);
    expect(all.rounds[0]?.problem.pods.map(({ metadata }) => metadata.name)).toEqual(["two"]);
    expect(all.scenario.problem.pods.map(({ metadata }) => metadata.name)).toEqual(["one", "two"]);
  });

  it("02:Y-6 a reservation that nodes use up is not there for the next round", () => {
    const reserved = instanceType("r.2").cpu(2).reserved("cr-1", { zone: "a", capacity: 1 });
    const all = planned([pool("p", { limits: { cpu: "16" } }), ...podsApart(3)], { types: [reserved, ...sizes] });
    const kinds = all.decision.newNodes.map(
      ({ offering }) => offering?.requirements.get(labels.capacityType).singleValue,
    );
    expect(kinds.sort()).toEqual(["reserved", "spot", "spot"]);
  });

  it("02:P-31 pods of nodes that are being deleted move once", () => {
    const gone = "2026-01-15T11:00:00Z";
    const node: readonly KubeObject[] = [
      {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: {
          name: "old",
          labels: { [labels.nodePool]: "p", [labels.instanceType]: "m.4" },
          deletionTimestamp: gone,
        },
      },
      { apiVersion: "v1", kind: "Node", metadata: { name: "old", deletionTimestamp: gone } },
    ];
    const all = planned([pool("p"), ...node, pod("moves", "1", { nodeName: "old" }), pod("huge", "100")]);
    expect(newNodes(all)).toEqual([["p", "m.2", ["moves"]]]);
    expect(refused(all).map(([name]) => name)).toEqual(["huge"]);
  });
});
