import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../runs.ts";
import { ask, cluster, codesOf, commandTexts, machine, pool, verdictOf } from "./cluster.ts";

const single = "single-node-consolidation";

describe("03 §10.2 what rules a node out without a simulation", () => {
  it("03 §10.2 a node whose pods have no room, where nothing is cheaper", () => {
    const snapshot = cluster([pool(), machine("n1", { type: "cpu-2", pods: [{ cpu: "1500m" }] })]);
    const proposal = ask(snapshot, single, { simulations: 0 });
    expect(verdictOf(proposal, "n1")).toEqual({
      node: "n1",
      nodePool: "default",
      code: "no-room",
      resource: "cpu",
      needed: 1.5,
      free: 0,
    });
    expect(proposal.stoppedAt).toBeUndefined();
    expect(codesOf(ask({ ...snapshot, mode: "upstream" }, single))).toEqual({ n1: "no-cheaper-type" });
  });

  it("03 §10.2 rejects nothing that a simulation accepts", () => {
    const cpu = fc.constantFrom("100m", "500m", "1", "1900m", "3", "3900m");
    const node = fc.record({
      type: fc.constantFrom("cpu-2", "cpu-4", "cpu-8"),
      pods: fc.array(cpu, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(node, { minLength: 1, maxLength: 5 }), (nodes) => {
        const objects = nodes.map(({ type, pods }, index) =>
          machine(`n${index}`, { type, pods: pods.map((one) => ({ cpu: one })) }),
        );
        const snapshot = cluster([pool(), ...objects]);
        const quick = ask(snapshot, single);
        const slow = ask({ ...snapshot, mode: "upstream" }, single);
        expect(commandTexts(quick)).toEqual(commandTexts(slow));
        const accepted = slow.verdicts.filter(({ code }) => code === "chosen" || code === "possible");
        for (const { node: name } of accepted) expect(verdictOf(quick, name)?.code).not.toBe("no-room");
      }),
      { numRuns: runs(60) },
    );
  });
});
