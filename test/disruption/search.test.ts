import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { DisruptionPass } from "../../src/core/disruption/disruption-pass.ts";
import type { SearchPosition } from "../../src/core/disruption/method.ts";
import { plainSimulator } from "../../src/core/disruption/plain-simulator.ts";
import { sharedSimulator } from "../../src/core/disruption/shared-simulator.ts";
import type { DisruptionSimulator } from "../../src/core/disruption/simulator.ts";
import { runSteps } from "../../src/util/steps.ts";
import { ask, cluster, codesOf, commandTexts, machine, pool, verdictOf } from "./cluster.ts";

/** Nodes that cannot go, which only a simulation finds out: no type for their pods is cheaper. */
const fixed = (name: string, facts: Parameters<typeof machine>[1] = {}) =>
  machine(name, { type: "cpu-4", pods: [{ cpu: "2200m" }], ...facts });

const single = "single-node-consolidation";
const multi = "multi-node-consolidation";

describe("03 §4.9 the sweep over single nodes", () => {
  it("03:D-55 begins with the best ratio and takes pools in turn", () => {
    const pools = ["one", "two"].map((name) => pool({ name }));
    const nodes = [
      machine("one-large", { pool: "one", type: "cpu-16", pods: [{ cpu: "15" }] }),
      machine("one-small", { pool: "one", type: "cpu-4", pods: [{ cpu: "3900m" }] }),
      machine("two-large", { pool: "two", type: "cpu-8", pods: [{ cpu: "7900m" }] }),
      machine("two-small", { pool: "two", type: "cpu-2", pods: [{ cpu: "1900m" }] }),
    ];
    const { verdicts } = ask(cluster([...pools, ...nodes]), single);
    expect(verdicts.map(({ node }) => node)).toEqual(["one-large", "two-large", "one-small", "two-small"]);
  });

  it("03:D-9 a pod that costs more to evict comes later", () => {
    const nodes = [fixed("a", { pods: [{ cpu: "2200m", spec: { priority: 2 ** 25 } }] }), fixed("b")];
    expect(ask(cluster([pool(), ...nodes]), single).verdicts.map(({ node }) => node)).toEqual(["b", "a"]);
  });

  it("03:D-56 the first that works is the command", () => {
    const nodes = [
      machine("n1", { pods: [{}] }),
      machine("n2", { type: "cpu-16", pods: [{ cpu: "15" }] }),
      machine("n3", { pods: [{}, {}] }),
    ];
    const first = ask(cluster([pool(), ...nodes]), single, { sweep: "first" });
    expect(commandTexts(first)).toEqual(["delete n1"]);
    expect(codesOf(first)).toEqual({ n2: "no-cheaper-type", n1: "chosen", n3: "not-reached" });
    const all = ask(cluster([pool(), ...nodes]), single);
    expect(commandTexts(all)).toEqual(["delete n1"]);
    expect(verdictOf(all, "n3")).toMatchObject({ code: "possible", decision: "delete", savings: 2 });
  });

  it("03:D-55 a sweep that is stopped goes on where it stopped: every node is reached", () => {
    const nodes = Array.from({ length: 10 }, (_, index) => fixed(`n${index}`));
    const snapshot = cluster([pool(), ...nodes]);
    const reached: string[] = [];
    let resume: SearchPosition | undefined;
    for (let sweep = 0; sweep < 4; sweep++) {
      const proposal = ask(snapshot, single, { simulations: 3, resume });
      expect(proposal.commands).toEqual([]);
      reached.push(...proposal.verdicts.filter(({ code }) => code !== "not-reached").map(({ node }) => node));
      expect(proposal.verdicts).toHaveLength(10);
      resume = proposal.stoppedAt;
    }
    expect(new Set(reached.slice(0, 10)).size).toBe(10);
  });

  it("03:D-55 a sweep that reached all nodes begins anew", () => {
    const snapshot = cluster([pool(), fixed("n1"), fixed("n2")]);
    expect(ask(snapshot, single).stoppedAt).toBeUndefined();
    expect(ask(snapshot, single, { simulations: 1 }).stoppedAt).toMatchObject({
      unreached: ["n2"],
      unreachedPools: ["default"],
    });
  });

  it("03:D-55 upstream begins with the pools that were not reached", () => {
    const pools = ["one", "two", "three"].map((name) => pool({ name }));
    const nodes = ["one", "two", "three"].flatMap((name) => [
      fixed(`${name}-1`, { pool: name }),
      fixed(`${name}-2`, { pool: name }),
    ]);
    const snapshot = cluster([...pools, ...nodes.flat()], { mode: "upstream" });
    const [first] = ask(snapshot, single).verdicts;
    const stopped = ask(snapshot, single, { simulations: 1 });
    const pool1 = first?.nodePool ?? "";
    expect(stopped.stoppedAt).toMatchObject({ kind: "sweep" });
    const again = ask(snapshot, single, { resume: { kind: "sweep", unreached: [], unreachedPools: ["two", "three"] } });
    expect(again.verdicts.slice(0, 3).map(({ nodePool }) => nodePool)).toEqual(["two", "three", "one"]);
    expect(pool1).not.toBe("two");
  });

  it("03:D-31 drift that is stopped goes on where it stopped", () => {
    const stuck = { pods: [{ spec: { nodeSelector: { none: "such" } } }], conditions: ["Drifted"] };
    const nodes = ["n1", "n2", "n3"].map((name) => machine(name, stuck));
    const snapshot = cluster([pool(), ...nodes, machine("n4", { pods: [{}], conditions: ["Drifted"], since: 1 })]);
    const first = ask(snapshot, "drift", { simulations: 2 });
    expect(codesOf(first)).toMatchObject({
      n1: "pods-unschedulable",
      n2: "pods-unschedulable",
      n3: "not-reached",
      n4: "not-reached",
    });
    expect(commandTexts(ask(snapshot, "drift", { simulations: 2, resume: first.stoppedAt }))).toHaveLength(1);
  });
});

describe("03:D-52 the search for several nodes", () => {
  const nodes = Array.from({ length: 9 }, (_, index) =>
    machine(`n${index}`, { type: "cpu-4", pods: [{ cpu: "1500m" }] }),
  );
  const snapshot = cluster([pool(), ...nodes]);

  it("returns the best it has when it is stopped", () => {
    const whole = ask(snapshot, multi);
    expect(whole.commands[0]?.candidates.length).toBeGreaterThan(4);
    const stopped = ask(snapshot, multi, { simulations: 1 });
    expect(stopped.commands[0]?.candidates).toHaveLength(5);
    expect(stopped.stoppedAt).toMatchObject({ kind: "prefix", low: 5, high: 8 });
  });

  it("goes on between its bounds as long as the nodes are the same", () => {
    const before = ask(snapshot, multi, { simulations: 0 });
    expect(before.commands).toEqual([]);
    expect(codesOf(before)).toMatchObject({ n0: "not-reached" });
    const bounds = { kind: "prefix", nodes: nodes.map((_, index) => `n${index}`), low: 7, high: 7 } as const;
    expect(ask(snapshot, multi, { resume: bounds }).commands[0]?.candidates).toHaveLength(8);
    const other = { ...bounds, nodes: ["x"] };
    expect(ask(snapshot, multi, { simulations: 1, resume: other }).commands[0]?.candidates).toHaveLength(5);
  });
});

describe("03 §10.2 a search in steps", () => {
  it.each([single, multi, "drift", "emptiness"] as const)("%s looks at a bounded number of nodes in each", (method) => {
    const machines = Array.from({ length: 300 }, (_, index) => machine(`n${index}`, { pods: [{}] }));
    const snapshot = cluster([pool(), ...machines]);
    let looks = 0;
    const nodes = snapshot.cluster.nodes.map((one) => ({
      ...one,
      get pods() {
        looks++;
        return one.pods;
      },
    }));
    const counted = { ...snapshot, cluster: { ...snapshot.cluster, nodes } };
    const searchBudget = { mayContinue: () => false };
    const steps = new DisruptionPass(counted).propose(method, { simulator: sharedSimulator(counted), searchBudget });
    let most = 0;
    let total = 0;
    for (let isDone = false; !isDone; total += looks) {
      looks = 0;
      isDone = steps.next().done === true;
      most = Math.max(most, looks);
    }
    expect(total).toBeGreaterThanOrEqual(300);
    expect(most).toBeLessThanOrEqual(200);
  });
});

describe("03 §10.2 a search that expects to end soon", () => {
  const labelSelector = { matchLabels: { app: "web" } };
  const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: labels.hostname, labelSelector }] };
  const pods = [{ labels: { app: "web" }, spec: { affinity: { podAntiAffinity: apart } } }, { cpu: "300m" }];
  const machines = Array.from({ length: 12 }, (_, index) => machine(`n${index}`, { pods: pods.slice(index % 2) }));
  const snapshot = cluster([pool(), ...machines]);
  const { candidates } = ask(snapshot, single);
  const sets = [[0], [1], [0, 1], [2], [0, 5, 7], [1, 2]].map((at) => at.flatMap((one) => candidates[one] ?? []));
  const answers = (simulator: DisruptionSimulator) =>
    sets.map((set) => {
      const simulation = runSteps(simulator.simulate(set, { isConsolidation: true }));
      if (simulation.kind !== "simulated") return simulation;
      const placements = simulation.placements.map((one) => [one.node, one.pods.map(({ metadata }) => metadata.name)]);
      const types = simulation.newNodes.map(({ instanceTypes }) => instanceTypes.map(({ name }) => name));
      return { placements, types, podErrors: simulation.podErrors };
    });

  it("03 §10.2-1 has the same answers, also about nodes it did not expect", () => {
    const simulator = sharedSimulator(snapshot);
    simulator.expect?.(candidates.slice(0, 2));
    expect(answers(simulator)).toEqual(answers(plainSimulator(snapshot)));
  });

  it("03 §10.2-9 a command that is kept is found gone by simulations of any nodes", () => {
    const [first, ...others] = candidates;
    const kept = (expected: typeof candidates) => {
      const simulator = sharedSimulator(snapshot);
      if (expected.length > 0) simulator.expect?.(expected);
      runSteps(simulator.simulate(candidates.slice(1, 2), { isConsolidation: true }));
      const taking = simulator.keep && runSteps(simulator.keep(candidates.slice(0, 1), { isConsolidation: true }));
      const later = runSteps(simulator.simulate(others.slice(0, 4), { isConsolidation: true }));
      return { taking, placements: later.kind === "simulated" && later.placements.map(({ node }) => node) };
    };
    expect(first).toBeDefined();
    expect(kept(candidates.slice(0, 2))).toEqual(kept([]));
    expect(kept([]).taking).not.toEqual([]);
  });

  it.each([single, multi] as const)("03 §10.2-1 %s does not prepare pods of nodes far behind to move", (method) => {
    const many = cluster([pool(), ...Array.from({ length: 400 }, (_, at) => machine(`n${at}`, { pods: [{}] }))]);
    const prepared = new Set<string>();
    const simulator = sharedSimulator(many);
    const watched: DisruptionSimulator = {
      ...simulator,
      expect: (expected) => {
        for (const { name } of expected) prepared.add(name);
        simulator.expect?.(expected);
      },
    };
    const options = { simulator: watched, searchBudget: { mayContinue: () => true }, sweep: "first" } as const;
    const { commands } = runSteps(new DisruptionPass(many).propose(method, options));
    expect(commands).toHaveLength(1);
    expect(prepared.size).toBeLessThanOrEqual(101);
    for (const { name } of commands[0]?.candidates ?? []) expect(prepared).toContain(name);
  });
});

describe("03 §10.2 a search while other commands wait", () => {
  /** The first node is on its way out; its pod goes to the second. */
  const searchWith = (method: typeof single | typeof multi, pods: Parameters<typeof machine>[1]) => {
    const machines = ["n1", "n2", "n3"].map((name) => machine(name, pods));
    const snapshot = cluster([pool(), ...machines]);
    const nodes = snapshot.cluster.nodes.map((one) => ({ ...one, isBeingDeleted: one.name === "n1" }));
    const waiting = { ...snapshot, cluster: { ...snapshot.cluster, nodes } };
    const options = {
      simulator: sharedSimulator(waiting, { placesOwnPodsFirst: true }),
      searchBudget: { mayContinue: () => true },
      sweep: "several",
    } as const;
    return runSteps(new DisruptionPass(waiting).propose(method, options));
  };

  it("03 §10.2 pods that were to go to a node need another place if it goes too", () => {
    // Two of them fit a node. Without the second node there is no place for the pod of the first.
    const { verdicts } = searchWith(single, { type: "cpu-2", pods: [{ cpu: "900m" }] });
    expect(codesOf({ verdicts })).toMatchObject({ n1: "deleting", n2: "no-cheaper-type", n3: "no-cheaper-type" });
  });

  it.each([single, multi] as const)("%s leaves alone a node that pods with topology rules go to", (method) => {
    const labelSelector = { matchLabels: { app: "web" } };
    const spread = {
      topologyKey: "kubernetes.io/hostname",
      maxSkew: 5,
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector,
    };
    const { verdicts } = searchWith(method, { pods: [{ spec: { topologySpreadConstraints: [spread] } }] });
    expect(codesOf({ verdicts })).toMatchObject({ n1: "deleting", n2: "destination" });
  });
});
