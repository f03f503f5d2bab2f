import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations, labels } from "../../src/api/labels.ts";
import { instanceType } from "../builders/instance-type.ts";
import { runs } from "../runs.ts";
import { ask, cluster, codesOf, commandTexts, machine, pool } from "./cluster.ts";

const multi = "multi-node-consolidation";

describe("03 §10.2 sets of nodes that are no prefix", () => {
  /** Together their pods fit a node of eight cpus, which is cheaper; two of them alone are not. */
  const half = (name: string, facts: Parameters<typeof machine>[1] = {}) =>
    machine(name, { type: "cpu-4", pods: [{ cpu: "2200m" }], ...facts });
  /** The best ratio, and too large to go with anything. */
  const large = machine("large", { type: "cpu-16", pods: [{ cpu: "15" }] });

  it("03 §10.2 a node at the head of the order does not keep the others", () => {
    const snapshot = cluster([pool(), large, half("a"), half("b"), half("c")]);
    expect(commandTexts(ask(snapshot, multi))).toEqual([]);
    const proposal = ask(snapshot, multi, { sweep: "several" });
    expect(commandTexts(proposal)).toEqual(["replace a,b,c -> cpu-8"]);
    expect(codesOf(proposal)).toMatchObject({ a: "chosen", large: "not-in-command" });
  });

  it("03 §10.2 a node in between is left out", () => {
    const nodes = ["a", "b", "c", "e", "f", "g"].map((name) => half(name));
    const apart = half("d", { pods: [{ cpu: "2200m", spec: { nodeSelector: { none: "such" } } }] });
    const proposal = ask(cluster([pool(), ...nodes, apart]), multi, { sweep: "several" });
    const [command] = proposal.commands;
    expect(command?.candidates.map(({ name }) => name)).not.toContain("d");
    expect(command?.savings).toBeGreaterThan(ask(cluster([pool(), ...nodes, apart]), multi).commands[0]?.savings ?? 0);
  });

  it("03 §10.2 the nodes of one pool go where those of several cannot", () => {
    const pools = ["one", "two"].map((name) =>
      pool({ name, requirements: [{ key: "team", operator: "In", values: [name] }] }),
    );
    const of = (name: string) => ({
      pool: name,
      pods: [{ cpu: "2200m", spec: { nodeSelector: { team: name } } }],
      claim: { metadata: { labels: { ...own(name), team: name } } },
      node: { metadata: { labels: { team: name } } },
    });
    const own = (name: string) => ({
      [labels.nodePool]: name,
      [labels.instanceType]: "cpu-4",
      [labels.zone]: "a",
      [labels.capacityType]: "on-demand",
    });
    const nodes = ["a", "b", "c", "d", "e", "f"].map((name, index) => half(name, of(index % 2 === 0 ? "one" : "two")));
    const snapshot = cluster([...pools, ...nodes]);
    expect(commandTexts(ask(snapshot, multi))).toEqual([]);
    expect(commandTexts(ask(snapshot, multi, { sweep: "several" }))).toEqual(["replace a,c,e -> cpu-8"]);
  });

  it("03 §10.2 a dear node goes before small ones whose pods would take the room it needs", () => {
    const held = { [annotations.doNotDisrupt]: "true" };
    const keeper = machine("keeper", { type: "cpu-16", pods: [{ cpu: "12", annotations: held }] });
    const small = ["a", "b"].map((name) =>
      machine(name, { type: "cpu-4", capacityType: "spot", pods: [{ cpu: "3" }] }),
    );
    const dear = machine("dear", { type: "cpu-16", capacityType: "spot", pods: [{ cpu: "3500m" }] });
    const proposal = ask(cluster([pool(), keeper, ...small, dear]), multi, { sweep: "several" });
    expect(commandTexts(proposal)).toEqual(["delete dear"]);
  });

  it("03 §10.2 a node that saves more by itself is not taken together with another", () => {
    const types = [
      instanceType("small").cpu(2).price(0.05),
      instanceType("medium").cpu(4).price(0.13),
      instanceType("large").cpu(8).price(0.23),
    ];
    const full = Array.from({ length: 7 }, (_, at) =>
      machine(`full-${at}`, { type: "large", pods: [{ cpu: "7500m" }] }),
    );
    const snapshot = cluster(
      [
        pool(),
        ...full,
        machine("wasteful", { type: "medium", pods: [{ cpu: "900m" }] }),
        machine("fitting", { type: "medium", pods: [{ cpu: "3500m" }] }),
      ],
      { types },
    );
    expect(commandTexts(ask(snapshot, multi, { sweep: "several" }))).toEqual(["replace wasteful -> small"]);
  });

  it("03:D-51 upstream tries prefixes only", () => {
    const snapshot = cluster([pool(), large, half("a"), half("b"), half("c")], { mode: "upstream" });
    expect(commandTexts(ask(snapshot, multi, { sweep: "several" }))).toEqual([]);
  });

  it("03:D-52 a search that is stopped goes on where it stopped", () => {
    const snapshot = cluster([pool(), large, half("a"), half("b"), half("c")]);
    // Two prefixes, and all nodes together.
    const stopped = ask(snapshot, multi, { sweep: "several", simulations: 3 });
    expect(commandTexts(stopped)).toEqual([]);
    const resumed = ask(snapshot, multi, { sweep: "several", simulations: 3, resume: stopped.stoppedAt });
    expect(commandTexts(resumed)).toEqual(["replace a,b,c -> cpu-8"]);
    const whole = ask(snapshot, multi, { sweep: "several" });
    expect(whole.stoppedAt).toBeUndefined();
  });

  it("03:D-51 what is found saves at least a third of what the prefix saves, and stays within budgets", () => {
    const node = fc.record({
      pool: fc.constantFrom("one", "two"),
      type: fc.constantFrom("cpu-2", "cpu-4", "cpu-8"),
      pods: fc.array(fc.constantFrom("100m", "900m", "1500m", "2200m"), { minLength: 1, maxLength: 3 }),
    });
    const budget = fc.constantFrom("100%", "3");
    fc.assert(
      fc.property(fc.array(node, { minLength: 2, maxLength: 7 }), budget, (nodes, allowed) => {
        const pools = ["one", "two"].map((name) => pool({ name, disruption: { budgets: [{ nodes: allowed }] } }));
        const machines = nodes.map(({ pods, ...facts }, index) =>
          machine(`n${index}`, { ...facts, pods: pods.map((cpu) => ({ cpu })) }),
        );
        const snapshot = cluster([...pools, ...machines]);
        const [prefix] = ask(snapshot, multi).commands;
        const { commands, budgets } = ask(snapshot, multi, { sweep: "several" });
        const [found] = commands;
        expect(found?.savings ?? 0).toBeGreaterThanOrEqual((prefix?.savings ?? 0) / 3);
        if (found === undefined) return;
        expect(found.savings).toBeGreaterThan(0);
        for (const [name, { available }] of budgets) {
          const taken = found.candidates.filter((one) => one.pool.name === name);
          expect(taken.length).toBeLessThanOrEqual(available);
        }
      }),
      { numRuns: runs(2_000) },
    );
  });
});
