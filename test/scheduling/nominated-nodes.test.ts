import { describe, expect, it } from "vitest";
import { solve } from "../../src/core/scheduling/solve.ts";
import { node } from "../builders/node.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { podsOnNodes, podsPerNewNode } from "../builders/readers.ts";

/** Two nodes that are starting: a plan put a large pod on one and two small ones on the other. */
const startingNodes = [node("a").cpu("4").uninitialized(), node("b").cpu("4").uninitialized()];
const [large, small] = [pod().cpu("3"), pod().cpu("2")];

function decided(nominated: Readonly<Record<string, string>>) {
  const asked = problem()
    .nodes(...startingNodes)
    .pod(large.named("large"), small.named("small-1"), small.named("small-2"))
    .build();
  return solve({ ...asked, nominatedNodes: new Map(Object.entries(nominated)) });
}

describe("pods that an earlier round sent somewhere", () => {
  it("02:L-32 keep their place while the node starts, so that nothing is launched twice", () => {
    const decision = decided({ "default/small-1": "a", "default/small-2": "a", "default/large": "b" });
    expect(podsOnNodes(decision)).toEqual({ a: ["small-1", "small-2"], b: ["large"] });
    expect(decision.newNodes).toEqual([]);
  });

  it("02:Q-1 come before larger pods without a nominated node", () => {
    const decision = decided({ "default/small-1": "a", "default/small-2": "b" });
    expect(podsOnNodes(decision)).toEqual({ a: ["small-1"], b: ["small-2"] });
    expect(podsPerNewNode(decision)).toEqual([["large"]]);
  });

  it("02:Q-1a do not lose it to one that has lost its own", () => {
    const asked = problem()
      .nodes(node("a").cpu("4").uninitialized(), node("full").cpu("1").uninitialized())
      .pod(large.named("large"), small.named("small-1"), small.named("small-2"))
      .build();
    const nominated = { "default/large": "full", "default/small-1": "a", "default/small-2": "a" };
    const decision = solve({ ...asked, nominatedNodes: new Map(Object.entries(nominated)) });
    expect(podsOnNodes(decision)).toEqual({ a: ["small-1", "small-2"] });
    expect(podsPerNewNode(decision)).toEqual([["large"]]);
  });

  it("02:Q-1a come before others even if they have lost it", () => {
    const asked = problem()
      .nodes(node("a").cpu("2").uninitialized(), node("full").cpu("1").uninitialized())
      .pod(small.named("small-1"), small.named("older").created("2020-01-01T00:00:00Z"))
      .build();
    const decision = solve({ ...asked, nominatedNodes: new Map([["default/small-1", "full"]]) });
    expect(podsOnNodes(decision)).toEqual({ a: ["small-1"] });
    expect(podsPerNewNode(decision)).toEqual([["older"]]);
  });

  it("02:Q-6 are placed like any other if the node is gone or has no room", () => {
    const decision = decided({ "default/large": "gone", "default/small-1": "b", "default/small-2": "b" });
    expect(podsOnNodes(decision)).toEqual({ a: ["large"], b: ["small-1", "small-2"] });
  });
});
