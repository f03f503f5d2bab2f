import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { DisruptionPass, type MethodProposal } from "../../src/core/disruption/disruption-pass.ts";
import { sharedSimulator } from "../../src/core/disruption/shared-simulator.ts";
import type { DisruptionSimulator } from "../../src/core/disruption/simulator.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { VerdictMemory } from "../../src/core/disruption/verdict-memory.ts";
import type { StateNode } from "../../src/core/round/cluster-snapshot.ts";
import { canonicalJson } from "../../src/util/canonical-json.ts";
import { runSteps } from "../../src/util/steps.ts";
import { instanceType } from "../builders/instance-type.ts";
import { runs } from "../runs.ts";
import { cluster, machine, type PodFacts, pod, pool } from "./cluster.ts";

const single = "single-node-consolidation";

/** What a cluster is made of; changes make another of it. */
interface Model {
  readonly nodes: readonly ModelNode[];
  readonly pending: readonly string[];
  readonly price: number;
  readonly limit?: string | undefined;
}

interface ModelNode {
  readonly name: string;
  readonly type: string;
  readonly pods: readonly ModelPod[];
  readonly isCordoned?: boolean;
}

interface ModelPod {
  readonly name: string;
  readonly cpu: string;
  readonly kind?: "plain" | "apart" | "spread";
}

function snapshotOf({ nodes, pending, price, limit }: Model, before?: DisruptionSnapshot): DisruptionSnapshot {
  const types = [2, 4, 8, 16].map((cpu) =>
    instanceType(`cpu-${cpu}`)
      .cpu(cpu)
      .memory(`${cpu * 4}Gi`)
      .price(cpu * price),
  );
  const machines = nodes.map(({ name, type, pods, isCordoned = false }) => [
    ...machine(name, {
      type,
      ...(isCordoned && { node: { spec: { taints: [{ key: "no", effect: "NoSchedule" }] } } }),
    }),
    ...pods.map((one) => pod(one.name, { on: name, ...podFacts(one) })),
  ]);
  const waiting = pending.map((cpu, index) => pod(`pending-${index}`, { cpu, status: unschedulable }));
  const spec = limit === undefined ? {} : { spec: { limits: { cpu: limit } } };
  const made = cluster([pool(spec), ...machines, ...waiting], { types });
  return before === undefined ? made : sharing(made, before);
}

const unschedulable = {
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }],
};

function podFacts({ cpu, kind = "plain" }: ModelPod): PodFacts {
  const labelSelector = { matchLabels: { kind } };
  const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: labels.hostname, labelSelector }] };
  const spread = { topologyKey: labels.zone, maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", labelSelector };
  return {
    cpu,
    labels: { kind },
    spec: {
      ...(kind === "apart" && { affinity: { podAntiAffinity: apart } }),
      ...(kind === "spread" && { topologySpreadConstraints: [spread] }),
    },
  };
}

/** As cluster state does, a snapshot shares with the one before what has not changed. */
function sharing(after: DisruptionSnapshot, before: DisruptionSnapshot): DisruptionSnapshot {
  const known = new Map(before.cluster.nodes.map((one) => [one.name, one]));
  // Ids are made up in order, so that they say nothing.
  const text = ({ existing, pods }: StateNode) =>
    canonicalJson({
      labels: existing.labels,
      taints: existing.taints,
      pods: pods.map(({ metadata, spec }) => [metadata.name, metadata.labels, spec]),
    });
  const nodes = after.cluster.nodes.map((one) => {
    const old = known.get(one.name);
    return old !== undefined && text(old) === text(one) ? old : one;
  });
  const byName = new Map(nodes.flatMap(({ pods }) => pods).map((one) => [one.metadata.name, one]));
  const boundPods = after.cluster.boundPods.map((one) => byName.get(one.metadata.name) ?? one);
  const typesText = ({ usablePools }: DisruptionSnapshot) =>
    canonicalJson(
      usablePools.map((one) =>
        one.instanceTypes.map(({ name, offerings }) => [name, offerings.map(({ price }) => price)]),
      ),
    );
  const hasSameTypes = typesText(after) === typesText(before);
  return {
    ...after,
    cluster: { ...after.cluster, nodes, boundPods, daemons: before.cluster.daemons },
    ...(hasSameTypes && {
      usablePools: after.usablePools.map((one, at) => ({
        ...one,
        instanceTypes: before.usablePools[at]?.instanceTypes ?? [],
      })),
      pools: new Map(
        [...after.pools].map(([name, one]) => [
          name,
          { ...one, instanceTypes: before.pools.get(name)?.instanceTypes ?? one.instanceTypes },
        ]),
      ),
    }),
  };
}

/** One sweep, and how many simulations it took. */
function sweep(snapshot: DisruptionSnapshot, memory?: VerdictMemory, most = Number.POSITIVE_INFINITY) {
  const shared = sharedSimulator(snapshot, { placesOwnPodsFirst: true });
  let simulations = 0;
  let left = most;
  const simulator: DisruptionSimulator = {
    ...shared,
    *simulate(candidates, options) {
      simulations++;
      return yield* shared.simulate(candidates, options);
    },
  };
  const searchBudget = { mayContinue: () => left-- > 0 };
  const options = { simulator, searchBudget, sweep: "several", memory } as const;
  const proposal: MethodProposal = runSteps(new DisruptionPass(snapshot).propose(single, options));
  return { proposal, simulations };
}

const full = (name: string): ModelNode => ({ name, type: "cpu-4", pods: [{ name: `${name}-pod`, cpu: "3500m" }] });
const threeFull: Model = { nodes: ["a", "b", "c"].map(full), pending: [], price: 0.25 };
const without = (name: string): Model => ({ ...threeFull, nodes: threeFull.nodes.filter((one) => one.name !== name) });

describe("03 §10.2 the memory of verdicts", () => {
  it.each<[string, Model, number]>([
    ["nothing has changed", threeFull, 0],
    ["a node has gone", without("b"), 0],
    ["a full node has come", { ...threeFull, nodes: [...threeFull.nodes, full("d")] }, 1],
    [
      "an empty node has come",
      { ...threeFull, nodes: [...threeFull.nodes, { name: "d", type: "cpu-8", pods: [] }] },
      3,
    ],
    [
      "a node has other pods",
      { ...threeFull, nodes: [full("a"), full("b"), { ...full("c"), pods: [{ name: "new", cpu: "3" }] }] },
      1,
    ],
    ["prices are others", { ...threeFull, price: 0.5 }, 3],
    ["a pod waits that takes room nowhere", { ...threeFull, pending: ["3"] }, 0],
  ])("03 §10.2 %s: what has to be simulated again", (_, changed, simulations) => {
    const memory = new VerdictMemory();
    const before = snapshotOf(threeFull);
    expect(sweep(before, memory).simulations).toBe(3);
    expect(sweep(snapshotOf(changed, before), memory).simulations).toBe(simulations);
  });

  it("03 §10.2 with limits of the pool every change counts", () => {
    const memory = new VerdictMemory();
    const before = snapshotOf({ ...threeFull, limit: "100" });
    sweep(before, memory);
    expect(sweep(snapshotOf({ ...without("b"), limit: "100" }, before), memory).simulations).toBe(2);
  });

  it("03:D-55 what is remembered takes nothing of the search's budget", () => {
    const memory = new VerdictMemory();
    const before = snapshotOf({ ...threeFull, nodes: ["a", "b", "c", "d", "e"].map(full) });
    const reached = [2, 4, 5].map((count) => {
      const { proposal } = sweep(before, memory, 2);
      expect(proposal.verdicts.filter(({ code }) => code !== "not-reached")).toHaveLength(count);
      return count;
    });
    expect(reached).toHaveLength(3);
  });

  it("03 §10.2 sweeps with it find what sweeps without it find", () => {
    const podModel = fc.record({
      cpu: fc.constantFrom("900m", "1900m", "1900m", "3500m", "3500m", "3900m"),
      kind: fc.constantFrom(...Array<"plain">(8).fill("plain"), "apart" as const, "spread" as const),
    });
    const nodeModel = fc.record({
      type: fc.constantFrom("cpu-2", "cpu-4", "cpu-8"),
      pods: fc.array(podModel, { minLength: 1, maxLength: 3 }),
    });
    const change = fc.record({
      kind: fc.constantFrom("pod", "pod-gone", "node", "node-gone", "cordon", "price", "pending", "nothing"),
      at: fc.nat(20),
      node: nodeModel,
    });
    const limit = fc.constantFrom(undefined, undefined, "40");
    let remembered = 0;
    let simulated = 0;
    type NodeModel = typeof nodeModel extends fc.Arbitrary<infer T> ? T : never;
    /** A node that a sweep removes is gone in the next: the room under the limit of the pool is another. */
    const plain = (...cpus: NodeModel["pods"][number]["cpu"][]) => cpus.map((cpu) => ({ cpu, kind: "plain" as const }));
    const goneAsProposed: [NodeModel[], { kind: "node" | "node-gone"; at: number; node: NodeModel }[], "40"] = [
      [
        { type: "cpu-2", pods: plain("1900m") },
        { type: "cpu-4", pods: plain("900m") },
        { type: "cpu-4", pods: plain("3500m", "900m") },
        { type: "cpu-8", pods: plain("3500m", "3900m", "900m") },
      ],
      [
        { kind: "node", at: 0, node: { type: "cpu-4", pods: plain("3900m") } },
        { kind: "node-gone", at: 16, node: { type: "cpu-2", pods: plain("900m") } },
      ],
      "40",
    ];
    const property = fc.property(
      fc.array(nodeModel, { minLength: 2, maxLength: 6 }),
      fc.array(change, { minLength: 1, maxLength: 4 }),
      limit,
      (nodes, changes, most) => {
        let names = 0;
        const named = ({ type, pods }: (typeof nodes)[number]): ModelNode => {
          const name = `n${names++}`;
          return { name, type, pods: pods.map((one, index) => ({ name: `${name}-${index}`, ...one })) };
        };
        let model: Model = { nodes: nodes.map(named), pending: [], price: 0.25, limit: most };
        let snapshot = snapshotOf(model);
        const memory = new VerdictMemory();
        for (const one of [undefined, ...changes]) {
          if (one !== undefined) model = changed(model, one.kind, one.at, () => named(one.node));
          snapshot = snapshotOf(model, snapshot);
          const quick = sweep(snapshot, memory);
          const slow = sweep(snapshot);
          expect(quick.proposal.verdicts).toEqual(slow.proposal.verdicts);
          expect(quick.proposal.commands.map(({ savings }) => savings)).toEqual(
            slow.proposal.commands.map(({ savings }) => savings),
          );
          remembered += slow.simulations - quick.simulations;
          simulated += slow.simulations;
        }
      },
    );
    fc.assert(property, { numRuns: runs(5_000), examples: [goneAsProposed] });
    expect(remembered).toBeGreaterThan(simulated / 100); // it is of some use
  });
});

function changed(model: Model, kind: string, at: number, newNode: () => ModelNode): Model {
  const index = model.nodes.length === 0 ? 0 : at % model.nodes.length;
  const replaced = (change: (node: ModelNode) => readonly ModelNode[]): Model => ({
    ...model,
    nodes: model.nodes.flatMap((one, position) => (position === index ? change(one) : [one])),
  });
  switch (kind) {
    case "pod":
      return replaced((one) => [{ ...one, pods: [...one.pods, { name: `${one.name}-new-${at}`, cpu: "100m" }] }]);
    case "pod-gone":
      return replaced((one) => [{ ...one, pods: one.pods.slice(1) }]);
    case "node":
      return { ...model, nodes: [...model.nodes, newNode()] };
    case "node-gone":
      return replaced(() => []);
    case "cordon":
      return replaced((one) => [{ ...one, isCordoned: one.isCordoned !== true }]);
    case "price":
      return { ...model, price: model.price * 2 };
    case "pending":
      return { ...model, pending: [...model.pending, at % 2 === 0 ? "500m" : "3"] };
    default:
      return model;
  }
}
