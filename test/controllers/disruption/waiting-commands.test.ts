import { describe, expect, it } from "vitest";
import { SearchMemory } from "../../../src/controllers/disruption/search-memory.ts";
import { WaitingCommands } from "../../../src/controllers/disruption/waiting-commands.ts";
import type { DisruptionCommand } from "../../../src/core/disruption/command.ts";
import type { DisruptionSnapshot } from "../../../src/core/disruption/snapshot.ts";
import { ask, cluster, machine, pool } from "../../disruption/cluster.ts";

const method = "single-node-consolidation";

/** Nodes that are on their way out use up budgets. */
function withLeaving({ cluster: old, ...rest }: DisruptionSnapshot, names: readonly string[]): DisruptionSnapshot {
  const nodes = old.nodes.map((one) => (names.includes(one.name) ? { ...one, isBeingDeleted: true } : one));
  return { ...rest, cluster: { ...old, nodes } };
}

describe("03:D-33 the memory of searches that found nothing", () => {
  const snapshot = cluster([pool(), machine("n1", { type: "cpu-4", pods: [{ cpu: "2200m" }] })]);
  const nothing = ask(snapshot, method);

  it("03:D-33 holds until its epoch ends", () => {
    const memory = new SearchMemory();
    expect(memory.isKnown(method, { epoch: "1", snapshot })).toBe(false);
    memory.remember(nothing, { epoch: "1", snapshot });
    expect(memory.isKnown(method, { epoch: "1", snapshot })).toBe(true);
    expect(memory.isKnown(method, { epoch: "2", snapshot })).toBe(false);
  });

  it("03:D-33 holds where a budget holds nodes back, until it lets more go", () => {
    const nodes = ["a", "b", "c"].map((name) => machine(name, { type: "cpu-4", pods: [{ cpu: "3" }] }));
    const budgeted = cluster([pool({ disruption: { budgets: [{ nodes: "2" }] } }), ...nodes]);
    const held = ask(budgeted, "multi-node-consolidation");
    expect(held).toMatchObject({ isHeldBackByBudget: true, commands: [] });
    const memory = new SearchMemory();
    memory.remember(held, { epoch: "1", snapshot: budgeted });
    const isKnown = (leaving: readonly string[]) =>
      memory.isKnown("multi-node-consolidation", { epoch: "1", snapshot: withLeaving(budgeted, leaving) });
    expect([isKnown([]), isKnown(["a"]), isKnown(["a", "b"]), isKnown([])]).toEqual([true, false, false, true]);
  });

  it("03:D-57 a command that waits, and one that waits no longer, are other epochs", () => {
    const waiting = new WaitingCommands();
    const [command] = ask(cluster([pool(), machine("n1", { pods: [{}] })]), method).commands;
    const versions = [waiting.version];
    waiting.add([command as DisruptionCommand], 15);
    versions.push(waiting.version);
    expect(waiting.takeDue(14)).toBeUndefined();
    expect(waiting.version).toBe(versions.at(-1));
    expect(waiting.all()).toEqual([command]);
    expect(waiting.takeDue(15)).toBe(command);
    versions.push(waiting.version);
    expect(new Set(versions).size).toBe(3);
  });
});
