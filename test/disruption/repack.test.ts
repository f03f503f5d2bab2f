import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { namespacedName } from "../../src/api/object.ts";
import { poolBudgets } from "../../src/core/disruption/budgets.ts";
import type { DisruptionCommand } from "../../src/core/disruption/command.ts";
import { disruptionMethods } from "../../src/core/disruption/methods.ts";
import { withReserved } from "../../src/core/disruption/reserve-commands.ts";
import { sharedSimulator } from "../../src/core/disruption/shared-simulator.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { validateCommand } from "../../src/core/disruption/validation.ts";
import { isReschedulable } from "../../src/core/pod-predicates.ts";
import { clusterPrice } from "../../src/core/repack/node-prices.ts";
import { type RepackPlan, repack } from "../../src/core/repack/repack.ts";
import { runSteps } from "../../src/util/steps.ts";
import { instanceType } from "../builders/instance-type.ts";
import { runs } from "../runs.ts";
import {
  ago,
  type ClusterFacts,
  type ClusterObjects,
  type MachineFacts,
  machine,
  pdb,
  pod,
  pool,
  projectedCluster,
} from "./cluster.ts";

const types = [2, 4, 8].map((cpu) =>
  instanceType(`cpu-${cpu}`)
    .cpu(cpu)
    .memory(`${cpu * 4}Gi`),
);
const facts: ClusterFacts = { types, packing: "polished", allowsMultiReplacement: true };
const simulatorFor = (snapshot: DisruptionSnapshot) => sharedSimulator(snapshot, { placesOwnPodsFirst: true });

function planFor(
  objects: ClusterObjects,
  { simulations = Number.POSITIVE_INFINITY, ...more }: ClusterFacts & { readonly simulations?: number } = {},
): RepackPlan {
  let left = simulations;
  const searchBudget = { mayContinue: () => left-- > 0 };
  return runSteps(repack(projectedCluster(objects, { ...facts, ...more }), { simulatorFor, searchBudget }));
}

const nodes = (count: number, of: MachineFacts) =>
  Array.from({ length: count }, (_, index) => machine(`n${index + 1}`, of));

/** Steps as text: `1: delete n1,n2` or `2: replace n3 -> cpu-2`. */
function stepTexts({ steps }: RepackPlan): readonly string[] {
  return steps.map(({ wave, command: { decision, candidates, replacements } }) => {
    const names = candidates.map(({ name }) => name).sort();
    const launched = replacements.map(({ instanceTypes }) => instanceTypes[0]?.name).join(" ");
    return `${wave}: ${decision} ${names.join(",")}${launched === "" ? "" : ` -> ${launched}`}`;
  });
}

describe("03 §10.2-5 a cluster packed anew", () => {
  it("03 §10.2-5 says what it costs today, packed from nothing, and after the commands", () => {
    const plan = planFor([pool(), ...nodes(3, { pods: [{ cpu: "4" }, { cpu: "1" }] })]);
    expect(plan.today).toEqual({ nodes: 3, price: 6 });
    expect(plan.repacked.price).toBeCloseTo(4);
    expect(plan.reached).toEqual({ nodes: 2, price: 4 });
    expect(plan.steps.at(-1)?.priceAfter).toBe(4);
  });

  it("03 §10.2-5 finds nothing to do in a cluster that is packed well", () => {
    const plan = planFor([pool(), ...nodes(2, { pods: [{ cpu: "4" }, { cpu: "4" }] })]);
    expect(plan.steps).toEqual([]);
    expect(plan.reached).toEqual(plan.today);
  });

  it("03:D-29b empty nodes go first", () => {
    const plan = planFor([pool(), machine("empty"), ...nodes(2, { type: "cpu-4", pods: [{ cpu: "1" }] })]);
    expect(stepTexts(plan)[0]).toBe("1: delete empty");
    expect(plan.reached).toEqual({ nodes: 1, price: 0.5 });
  });

  it("03:D-21 no wave disrupts more than a budget allows", () => {
    const few = pool({ disruption: { budgets: [{ nodes: "2" }] } });
    const plan = planFor([few, ...nodes(8, { type: "cpu-8", pods: [{ cpu: "1" }] })]);
    const perWave = new Map<number, number>();
    for (const { wave, command } of plan.steps) {
      perWave.set(wave, (perWave.get(wave) ?? 0) + command.candidates.length);
    }
    expect(Math.max(...perWave.values())).toBe(2);
    expect(plan.reached).toEqual({ nodes: 1, price: 2 });
  });

  it("03:D-22 a budget of none leaves all as it is, and says so", () => {
    const none = pool({ disruption: { budgets: [{ nodes: "0" }] } });
    const plan = planFor([none, ...nodes(2, { pods: [{ cpu: "1" }] })]);
    expect(plan.steps).toEqual([]);
    expect(plan.staying).toMatchObject([
      { node: "n1", code: "budget" },
      { node: "n2", code: "budget" },
    ]);
    expect(plan.repacked.price).toBeLessThan(plan.today.price);
  });

  it("03:D-17 03:D-18 protected pods and budgets of pods keep their nodes", () => {
    const held = { annotations: { [annotations.doNotDisrupt]: "true" }, labels: { app: "db" } };
    const objects = [
      pool(),
      machine("held", { pods: [{ cpu: "1", ...held }] }),
      machine("blocked", { pods: [{ cpu: "1" }] }),
      machine("free", { pods: [{ cpu: "1", labels: { app: "other" } }] }),
      pdb("web", { allowed: 0 }),
    ];
    const plan = planFor(objects);
    expect(stepTexts(plan)).toEqual(["1: delete free"]);
    expect(plan.staying.map(({ node, code }) => `${node} ${code}`)).toEqual(["blocked pdb", "held pod-protected"]);
  });

  it("03:D-36 nodes of other methods stay: static pools, WhenEmpty, not ours, of unknown types", () => {
    const objects = [
      pool(),
      pool({ name: "static", spec: { replicas: 1 } }),
      pool({ name: "empty-only", disruption: { consolidationPolicy: "WhenEmpty" } }),
      machine("s1", { pool: "static", pods: [{ cpu: "1" }] }),
      machine("w1", { pool: "empty-only", pods: [{ cpu: "1" }] }),
      machine("u1", { without: ["claim"], node: { status: { allocatable: { cpu: "1", pods: "10" } } } }),
      machine("x1", {
        type: "gone",
        node: { status: { allocatable: { cpu: "1", pods: "10" } } },
        pods: [{ cpu: "1" }],
      }),
    ];
    const plan = planFor(objects);
    expect(plan.steps).toEqual([]);
    expect(plan.repacked.keptNodes).toEqual(["s1", "u1", "x1"]);
    expect(plan.today).toEqual({ nodes: 3, price: 4 });
  });

  it("03:D-38 pods that wait get their place first", () => {
    const plan = planFor([pool(), ...nodes(2, { pods: [{ cpu: "7" }] }), pod("waiting", { cpu: "3" })]);
    expect(plan.provisioning).toMatchObject({ pods: 1, unschedulable: [], price: 5 });
    expect(plan.provisioning.launched).toHaveLength(1);
    expect(plan.today).toEqual({ nodes: 2, price: 4 });
    expect(plan.reached.price).toBe(5);
  });

  it("03:D-38 so do those of nodes that are being deleted; what has no place at all is named", () => {
    const leaving = machine("gone", {
      pods: [{ cpu: "1" }, { cpu: "1", spec: { nodeSelector: { none: "such" } } }],
      claim: { metadata: { deletionTimestamp: ago(1) } },
    });
    const plan = planFor([pool(), leaving, ...nodes(1, { pods: [{ cpu: "7" }] })]);
    expect(plan.provisioning).toMatchObject({ pods: 2, unschedulable: ["default/gone-1"], launched: [] });
    expect(plan.reached).toEqual({ nodes: 1, price: 2 });
  });

  it("03 §10.2-5 pods that could not be placed again keep their node in it", () => {
    const labelled = machine("n1", {
      node: { metadata: { labels: { special: "yes" } } },
      pods: [{ cpu: "1", spec: { nodeSelector: { special: "yes" } } }],
    });
    const plan = planFor([pool(), labelled, machine("n2", { pods: [{ cpu: "1" }] })]);
    expect(plan.repacked.keptNodes).toEqual(["n1"]);
    expect(stepTexts(plan)).toEqual(["1: delete n2"]);
  });

  it("03:D-52 a search that is stopped says so, and what it found holds", () => {
    const plan = planFor([pool(), ...nodes(6, { pods: [{ cpu: "1" }] })], { simulations: 1 });
    expect(plan.isStopped).toBe(true);
    expect(plan.reached.price).toBeLessThanOrEqual(plan.today.price);
  });
});

/** Every pod that needs a node, and where it is. */
function placesOf({ cluster }: DisruptionSnapshot): ReadonlyMap<string, string> {
  const places = cluster.nodes.flatMap(({ name, pods }) =>
    pods.filter(isReschedulable).map(({ metadata }) => [namespacedName(metadata), name] as const),
  );
  return new Map(places);
}

function expectWithinCapacity({ cluster }: DisruptionSnapshot): void {
  for (const { existing } of cluster.nodes) {
    for (const amount of Object.values(existing.available)) expect(amount.toNumber()).toBeGreaterThanOrEqual(0);
  }
}

function expectWithinBudgets(commands: readonly DisruptionCommand[], snapshot: DisruptionSnapshot): void {
  const counts = new Map<string, number>();
  for (const { candidates, method } of commands) {
    for (const { pool: of } of candidates) {
      counts.set(of.name, (counts.get(of.name) ?? 0) + 1);
      const budget = poolBudgets(snapshot, disruptionMethods[method].reason).get(of.name);
      expect(counts.get(of.name)).toBeLessThanOrEqual(budget?.available ?? 0);
    }
  }
}

describe("03 §10.2-5 the way to a repacked cluster", () => {
  const cpus = ["200m", "500m", "1", "1900m", "3", "4"];
  const app = fc.constantFrom("web", "db", "job");
  const podFacts = fc.record({ cpu: fc.constantFrom(...cpus), app, isApart: fc.boolean(), isSpread: fc.boolean() });
  const nodeFacts = fc.record({
    pool: fc.constantFrom("one", "two"),
    type: fc.constantFrom("cpu-2", "cpu-4", "cpu-8"),
    zone: fc.constantFrom("a", "b", "c"),
    capacityType: fc.constantFrom("on-demand", "spot"),
    pods: fc.array(podFacts, { maxLength: 3 }),
  });
  const budget = fc.constantFrom("100%", "50%", "1", "2");
  const apart = (of: string) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: of } }, topologyKey: labels.hostname },
        ],
      },
    },
  });
  const spread = (of: string) => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: labels.zone,
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { app: of } },
      },
    ],
  });

  const drawn = fc.record({
    nodes: fc.array(nodeFacts, { minLength: 1, maxLength: 6 }),
    budgets: fc.tuple(budget, budget),
    pending: fc.array(podFacts, { maxLength: 2 }),
    hasBudget: fc.boolean(),
  });

  type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never;

  /** Three nodes whose pods need three of the same types: their prices, added up in another order, differ in the last digit. */
  const sameAgain: Drawn = {
    nodes: [
      {
        ...{ pool: "one", type: "cpu-4", zone: "a", capacityType: "on-demand" },
        pods: [{ cpu: "3", app: "db", isApart: true, isSpread: false }],
      },
      {
        ...{ pool: "one", type: "cpu-4", zone: "a", capacityType: "spot" },
        pods: [
          { cpu: "3", app: "web", isApart: false, isSpread: false },
          { cpu: "1", app: "db", isApart: true, isSpread: false },
        ],
      },
      {
        ...{ pool: "one", type: "cpu-2", zone: "a", capacityType: "spot" },
        pods: [
          { cpu: "200m", app: "db", isApart: false, isSpread: false },
          { cpu: "1", app: "db", isApart: false, isSpread: false },
        ],
      },
      { pool: "two", type: "cpu-8", zone: "a", capacityType: "spot", pods: [] },
    ],
    budgets: ["50%", "100%"],
    pending: [
      { cpu: "3", app: "web", isApart: false, isSpread: false },
      { cpu: "4", app: "web", isApart: false, isSpread: false },
    ],
    hasBudget: false,
  };

  function objectsOf({ nodes: drafts, budgets, pending, hasBudget }: Drawn) {
    const podOf = ({
      cpu,
      app: of,
      isApart,
      isSpread,
    }: {
      cpu: string;
      app: string;
      isApart: boolean;
      isSpread: boolean;
    }) => ({
      cpu,
      labels: { app: of },
      spec: { ...(isApart && of === "db" ? apart(of) : {}), ...(isSpread && of === "job" ? spread(of) : {}) },
    });
    return [
      ...["one", "two"].map((name, at) =>
        pool({ name, capacityTypes: ["spot", "on-demand"], disruption: { budgets: [{ nodes: budgets[at] }] } }),
      ),
      ...drafts.map(({ pods, ...one }, index) => {
        const size = Number(one.type.slice("cpu-".length));
        // What does not fit is not there.
        const fitting: ReturnType<typeof podOf>[] = [];
        let used = 0;
        for (const draft of pods) {
          const amount = draft.cpu.endsWith("m") ? Number.parseInt(draft.cpu, 10) / 1000 : Number(draft.cpu);
          if (used + amount > size) continue;
          used += amount;
          fitting.push(podOf(draft));
        }
        return machine(`n${index}`, { ...one, pods: fitting });
      }),
      ...pending.map((one, index) => pod(`waiting-${index}`, podOf(one))),
      ...(hasBudget ? [pdb("web", { allowed: 1 })] : []),
    ];
  }

  /** Carries out the plan for a cluster step by step, and checks each of them in its turn. Returns how many there were. */
  function replaySteps(draft: Drawn): number {
    const objects = objectsOf(draft);
    const plan = planFor(objects, { allowsSpotToSpot: true });
    const world = projectedCluster(objects, { ...facts, allowsSpotToSpot: true });
    // The projection starts as the plan did: pods that wait are placed first.
    const started = runSteps(repack(world, { simulatorFor, searchBudget: { mayContinue: () => false } }));
    expect(started.steps.every(({ command }) => command.method === "emptiness")).toBe(true);
    const rest = plan.steps.slice(started.steps.length);
    const before = placesOf(world.snapshot());
    let stepCount = 0;
    let price = clusterPrice(world.snapshot());
    for (const wave of new Set(rest.map((one) => one.wave))) {
      const steps = rest.filter((one) => one.wave === wave);
      const snapshot = world.snapshot();
      const commands = steps.map(({ command }) => command);
      expectWithinBudgets(commands, snapshot);
      for (const [at, { command, launched, priceAfter }] of steps.entries()) {
        stepCount++;
        const reserved = withReserved(snapshot, commands.slice(0, at));
        const outcome = runSteps(validateCommand(command, reserved, simulatorFor(reserved)));
        expect(outcome).toMatchObject({ kind: "valid" });
        const { candidates, replacements: newNodes, placements } = command;
        const removedNodes = candidates.map(({ name }) => name);
        // Other snapshots have other pod objects of the same names.
        const current = new Map(
          world.snapshot().cluster.nodes.flatMap(({ pods }) => pods.map((one) => [namespacedName(one.metadata), one])),
        );
        const same = <T extends { readonly pods: readonly (typeof placements)[number]["pods"][number][] }>(
          one: T,
        ): T => ({
          ...one,
          pods: one.pods.map((each) => current.get(namespacedName(each.metadata)) ?? each),
        });
        expect(
          world.carryOut({ removedNodes, newNodes: newNodes.map(same), placements: placements.map(same) }),
        ).toEqual(launched);
        const after = clusterPrice(world.snapshot());
        expect(after).toBeCloseTo(priceAfter, 9);
        expect(after).toBeLessThanOrEqual(price + 1e-9);
        if (command.method !== "emptiness") expect(after).toBeLessThan(price);
        price = after;
        expectWithinCapacity(world.snapshot());
        expect([...placesOf(world.snapshot()).keys()].sort()).toEqual([...before.keys()].sort());
      }
    }
    expect(plan.reached.price).toBeCloseTo(price, 9);
    expect(plan.reached.nodes).toBe(world.snapshot().cluster.nodes.length);
    const again = planFor(objects, { allowsSpotToSpot: true });
    expect(stepTexts(again)).toEqual(stepTexts(plan));
    return stepCount;
  }

  it("03 §10.2-5 every step is valid in its turn, keeps every pod placed, and the price never rises; it ends where it says", () => {
    let stepCount = 0;
    fc.assert(
      fc.property(drawn, (draft) => {
        stepCount += replaySteps(draft);
      }),
      { numRuns: runs(2_000), examples: [[sameAgain]] },
    );
    expect(stepCount).toBeGreaterThan(0);
  });

  it("03 §10.2-5 a step of a wave is valid where pods of an earlier one are spread over zones", () => {
    const onDemand = { pool: "one", capacityType: "on-demand" } as const;
    const draft: Drawn = {
      nodes: [
        { ...onDemand, type: "cpu-4", zone: "a", pods: [{ cpu: "4", app: "web", isApart: false, isSpread: false }] },
        { ...onDemand, type: "cpu-8", zone: "b", pods: [{ cpu: "3", app: "job", isApart: false, isSpread: false }] },
        { ...onDemand, type: "cpu-2", zone: "a", pods: [{ cpu: "1900m", app: "job", isApart: false, isSpread: true }] },
        {
          ...{ pool: "one", type: "cpu-4", zone: "a", capacityType: "spot" },
          pods: [
            { cpu: "3", app: "job", isApart: false, isSpread: true },
            { cpu: "200m", app: "job", isApart: false, isSpread: true },
          ],
        },
      ],
      budgets: ["100%", "100%"],
      pending: [
        { cpu: "4", app: "job", isApart: false, isSpread: true },
        { cpu: "4", app: "web", isApart: false, isSpread: false },
      ],
      hasBudget: false,
    };
    expect(replaySteps(draft)).toBeGreaterThan(1);
  });
});
