import { describe, expect, it } from "vitest";
import { nextCommands } from "../../src/core/disruption/next-commands.ts";
import type { DisruptionSnapshot } from "../../src/core/disruption/snapshot.ts";
import { runSteps } from "../../src/util/steps.ts";
import { cluster, commandTexts, machine, pool } from "./cluster.ts";

/** What the controller would do: the method and its commands. */
function nextOf(snapshot: DisruptionSnapshot): readonly string[] {
  const next = runSteps(nextCommands(snapshot, { mayContinue: () => true }));
  return next === undefined ? [] : [next.method, ...commandTexts(next)];
}

/** Together their pods fit a node of eight cpus, which is cheaper; two of them alone are not. */
const half = (name: string, facts: Parameters<typeof machine>[1] = {}) =>
  machine(name, { type: "cpu-4", pods: [{ cpu: "2200m" }], ...facts });
/** The best ratio, and too large to go with anything. */
const large = machine("large", { type: "cpu-16", pods: [{ cpu: "15" }] });

describe("what the controller does next", () => {
  it("03:D-2 is what the first method with a command finds", () => {
    const empty = machine("empty");
    expect(nextOf(cluster([pool(), empty, machine("n1", { pods: [{}] })]))).toEqual(["emptiness", "delete empty"]);
    expect(nextOf(cluster([pool(), large]))).toEqual([]);
  });

  it("03 §10.2-6 a set that is no prefix of the order by savings", () => {
    const nodes = [large, half("a"), half("b"), half("c")];
    expect(nextOf(cluster([pool(), ...nodes]))).toEqual(["multi-node-consolidation", "replace a,b,c -> cpu-8"]);
    expect(nextOf(cluster([pool(), ...nodes], { mode: "upstream" }))).toEqual([]);
  });

  it("03 §10.2-9 several drifted nodes, of which upstream takes one", () => {
    const drifted = ["n1", "n2", "n3"].map((name) => machine(name, { pods: [{}], conditions: ["Drifted"] }));
    const found = (mode: "default" | "upstream") => nextOf(cluster([pool(), ...drifted], { mode }));
    expect(found("upstream")).toHaveLength(2);
    expect(found("default").length).toBeGreaterThan(2);
    expect(found("default")[0]).toBe("drift");
  });

  it("03:D-28 not more nodes than budgets allow", () => {
    const nodes = Array.from({ length: 4 }, (_, at) => machine(`n${at}`, { pods: [{}], conditions: ["Drifted"] }));
    const found = nextOf(cluster([pool({ disruption: { budgets: [{ nodes: "2" }] } }), ...nodes]));
    expect(found).toHaveLength(3);
  });

  it("03:D-54 goes on with the next method where no command holds 15 seconds later", () => {
    const nodes = [machine("empty"), machine("n1", { pods: [{}] }), machine("n2", { pods: [{}] })];
    const closesAtNoon = { nodes: "0", schedule: "0 12 * * *", duration: "1h", reasons: ["Empty"] };
    const methodAt = (time: string): string | undefined => {
      const budgets = [{ nodes: "100%" }, closesAtNoon];
      const [method] = nextOf(cluster([pool({ disruption: { budgets } }), ...nodes], { nowMs: Date.parse(time) }));
      return method;
    };
    expect(methodAt("2026-01-15T11:59:40Z")).toBe("emptiness");
    expect(methodAt("2026-01-15T11:59:50Z")).toMatch("consolidation");
  });
});
