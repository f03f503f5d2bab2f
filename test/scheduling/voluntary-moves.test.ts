import { describe, expect, it } from "vitest";
import { solve } from "../../src/core/scheduling/solve.ts";
import { node } from "../builders/node.ts";
import { problem } from "../builders/problem.ts";
import { podsOnNodes, podsPerNewNode } from "../builders/readers.ts";
import { web } from "./solved.ts";

describe("nodes in their quiet period", () => {
  const base = problem().nodes(node("n1")).pods(2, web).build();
  const quiet = { ...base, nodes: base.nodes.map((one) => ({ ...one, underConsolidateAfter: true })) };

  it("02:Q-7 are no destination for a pod that moves only because it would be better", () => {
    const decision = solve({ ...quiet, voluntaryMoves: new Set(["default/p-0"]) });
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-1"] });
    expect(podsPerNewNode(decision)).toEqual([["p-0"]]);
  });

  it("02:Q-7 take pending pods all the same", () => {
    expect(podsOnNodes(solve(quiet))).toEqual({ n1: ["p-0", "p-1"] });
  });
});
