import { describe, expect, it } from "vitest";
import { poolBudgets } from "../../src/core/disruption/budgets.ts";
import { ago, ask, cluster, codesOf, commandTexts, type MachineFacts, machine, pool } from "./cluster.ts";

function budgetOf(facts: readonly MachineFacts[], budgets: readonly object[] = [{ nodes: "100%" }]) {
  const nodes = facts.map((one, index) => machine(`n${index}`, one));
  return poolBudgets(cluster([pool({ disruption: { budgets } }), ...nodes]), "Empty").get("default");
}

const empty = (count: number, poolName = "default") =>
  Array.from({ length: count }, (_, index) => machine(`${poolName}-${index}`, { pool: poolName }));

describe("03 §4.4 budgets", () => {
  it.each<[string, MachineFacts, number, number]>([
    ["a node", {}, 1, 0],
    ["03:D-20 one without a claim", { without: ["claim"] }, 0, 0],
    ["03:D-20 one that is not initialized", { conditions: ["Initialized=False"] }, 0, 0],
    ["03:D-20 one whose instance terminates", { conditions: ["InstanceTerminating"] }, 0, 0],
    ["03:D-20 one that is being deleted", { claim: { metadata: { deletionTimestamp: ago(1) } } }, 1, 1],
    ["03:D-20 one that is not ready", { node: { status: { conditions: [{ type: "Ready", status: "False" }] } } }, 1, 1],
    [
      "03:D-20 one whose kubelet is silent",
      { node: { status: { conditions: [{ type: "Ready", status: "Unknown" }] } } },
      1,
      1,
    ],
  ])("%s counts as it should", (_, facts, nodes, disrupting) => {
    expect(budgetOf([facts])).toMatchObject({ nodes, disrupting });
  });

  it("03:D-24 what is disrupting is taken off, never below zero", () => {
    const leaving = { claim: { metadata: { deletionTimestamp: ago(1) } } };
    expect(budgetOf([leaving, leaving, {}, {}], [{ nodes: "3" }])).toMatchObject({ allowed: 3, available: 1 });
    expect(budgetOf([leaving, leaving, {}], [{ nodes: "1" }])).toMatchObject({ allowed: 1, available: 0 });
  });

  it("03:D-23 a budget that cannot be read blocks every reason, and says why", () => {
    const broken = { nodes: "1", reasons: ["Drifted"], schedule: "@dailyfoo", duration: "1h" };
    expect(budgetOf([{}], [{ nodes: "100%" }, broken])).toMatchObject({
      available: 0,
      problems: [{ code: "invalid-value" }],
    });
  });

  it.each([
    ["3", 3],
    ["100%", 10],
    ["0", 0],
    ["10%", 1],
  ])("03:D-28 with a budget of %s emptiness takes %i of ten", (nodes, count) => {
    const proposal = ask(cluster([pool({ disruption: { budgets: [{ nodes }] } }), ...empty(10)]), "emptiness");
    expect(proposal.commands.flatMap(({ candidates }) => candidates)).toHaveLength(count);
    expect(Object.values(codesOf(proposal)).filter((code) => code === "budget")).toHaveLength(10 - count);
    expect(proposal.isHeldBackByBudget).toBe(count < 10);
  });

  it("03:D-28 every pool has its own", () => {
    const disruption = { budgets: [{ nodes: "2" }] };
    const pools = ["one", "two", "three"].map((name) => pool({ name, disruption }));
    const proposal = ask(
      cluster([...pools, ...empty(3, "one"), ...empty(3, "two"), ...empty(3, "three")]),
      "emptiness",
    );
    expect(commandTexts(proposal)).toEqual(["delete one-0,one-1,three-0,three-1,two-0,two-1"]);
  });

  it("03:D-28 several nodes are charged while they are chosen, one node only needs one", () => {
    const disruption = { budgets: [{ nodes: "1" }] };
    const nodes = ["n1", "n2"].map((name) => machine(name, { pods: [{}] }));
    const snapshot = cluster([pool({ disruption }), ...nodes, machine("n3", { pods: [{}, {}] })]);
    expect(codesOf(ask(snapshot, "multi-node-consolidation"))).toEqual({
      n1: "too-few-nodes",
      n2: "budget",
      n3: "budget",
    });
    expect(commandTexts(ask(snapshot, "single-node-consolidation"))).toEqual(["delete n1"]);
  });

  it("03:D-28 without a budget left, drift and single-node consolidation leave the node", () => {
    const disruption = { budgets: [{ nodes: "0" }] };
    const snapshot = cluster([
      pool({ disruption }),
      machine("n1", { pods: [{}], conditions: ["Drifted"] }),
      machine("n2"),
    ]);
    for (const method of ["drift", "single-node-consolidation"] as const) {
      const proposal = ask(snapshot, method);
      expect(proposal.commands).toEqual([]);
      expect(codesOf(proposal)).toMatchObject({ n1: "budget" });
      expect(proposal.isHeldBackByBudget).toBe(true);
    }
  });
});
