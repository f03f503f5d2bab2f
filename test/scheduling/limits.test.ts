import { describe, expect, it } from "vitest";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { problem } from "../builders/problem.ts";
import {
  codes,
  messages,
  podsPerNewNode,
  poolsOfNewNodes,
  sizesOfNewNodes,
  typesPerNewNode,
} from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const exceeded = "all available instance types exceed limits for nodepool (NodePool=default)";
const exhausted = "node limits have been exhausted for nodepool (NodePool=default)";
const sizes = problem().types(small, large);
const limited = (name: string, amount: string) => sizes.pools(nodePool().limit(name, amount));

describe("limits of a pool", () => {
  it("02:H-2 are too small for any type", () => {
    expect(messages(solved(limited("cpu", "3").pod(web)))).toEqual({ "p-0": exceeded });
  });

  it("02:H-2 are met exactly", () => {
    const decision = solved(limited("cpu", "8").pod(web.cpu("8")));
    expect([typesPerNewNode(decision), codes(decision)]).toEqual([[["large"]], {}]);
  });

  it("02:H-2 leave the types that stay within them", () => {
    expect(typesPerNewNode(solved(limited("cpu", "7").pod(web)))).toEqual([["small"]]);
  });

  it("02:H-3 the largest type a node could be is charged when it is opened", () => {
    const decision = solved(limited("cpu", "16").pods(3, web.apart("host")));
    expect(podsPerNewNode(decision)).toEqual([["p-0"], ["p-1"]]);
    expect(messages(decision)).toEqual({ "p-2": exceeded });
  });

  it("02:H-3 pods that join a node change nothing of that", () => {
    const decision = solved(limited("cpu", "8").pods(8, web));
    expect(sizesOfNewNodes(decision)).toEqual([8]);
  });

  it("02:H-2 some pods fit and some do not", () => {
    const decision = solved(limited("cpu", "8").pods(2, web.cpu("5")));
    expect([sizesOfNewNodes(decision), messages(decision)]).toEqual([[1], { "p-1": exceeded }]);
  });

  it.each([
    ["memory", "10Gi"],
    ["nvidia.com/gpu", "1"],
  ])("02:H-2 of %s", (name, amount) => {
    const types = [small.memory("8Gi").resource("nvidia.com/gpu", "1")];
    const pools = problem()
      .types(...types)
      .pools(nodePool().limit(name, amount));
    const decision = solved(pools.pods(2, web.apart("host")));
    expect([sizesOfNewNodes(decision), messages(decision)]).toEqual([[1], { "p-1": exceeded }]);
  });

  it("02:H-2 a resource no type has is no obstacle", () => {
    expect(solved(limited("example.com/fpga", "0").pod(web)).refusals).toEqual([]);
  });

  it("02:H-1 are used up by existing nodes", () => {
    const there = node("n1").pool("default").cpu("4").running(web.cpu("4"));
    expect(messages(solved(limited("cpu", "7").nodes(there).pod(web)))).toEqual({ "p-0": exceeded });
    expect(typesPerNewNode(solved(limited("cpu", "8").nodes(there).pod(web)))).toEqual([["small"]]);
  });

  it("02:H-1 overdrawn leave nothing, of whatever size", () => {
    const there = node("n1").pool("default").cpu("9").allocatable("pods", "1").running(web.cpu("9"));
    const tiny = problem().types(small.resource("cpu", "0").resource("pods", "1"));
    const decision = solved(tiny.pools(nodePool().limit("cpu", "8")).nodes(there).pod(web.cpu("0")));
    expect(messages(decision)).toEqual({ "p-0": exceeded });
  });

  it("02:H-1 of a name that every object inherits are not used up by nodes without it", () => {
    const there = node("n1").pool("default").running(web.cpu("4"));
    expect(solved(limited("constructor", "1").nodes(there).pod(web)).refusals).toEqual([]);
  });

  it("02:H-1 are not used up by nodes of other pools", () => {
    const there = node("n1").pool("other").cpu("8").running(web.cpu("8"));
    expect(solved(limited("cpu", "8").nodes(there).pod(web)).refusals).toEqual([]);
  });

  it("02:Q-22 of one pool send pods to the next", () => {
    const pools = [nodePool("first").weight(9).limit("cpu", "8"), nodePool("second")];
    const decision = solved(sizes.pools(...pools).pods(2, web.apart("host")));
    expect(poolsOfNewNodes(decision)).toEqual(["first", "second"]);
  });

  it("02:H-1 over several rounds: what one buys the next finds used", () => {
    const first = solved(limited("cpu", "12").pods(2, web.cpu("4").apart("host")));
    expect([typesPerNewNode(first), messages(first)]).toEqual([[["small", "large"], ["small"]], {}]);
    const existing = ["n1", "n2"].map((name) =>
      node(name).pool("default").cpu("4").running(web.cpu("4").apart("host")),
    );
    const second = solved(
      limited("cpu", "12")
        .nodes(...existing)
        .pod(web.cpu("4").apart("host")),
    );
    expect(typesPerNewNode(second)).toEqual([["small"]]);
  });
});

describe("limits of nodes", () => {
  it("02 §11.8-3 02:H-2 hold inside a round (02 §12.2-2)", () => {
    const decision = solved(limited("nodes", "2").pods(4, web.apart("host")));
    expect(podsPerNewNode(decision)).toEqual([["p-0"], ["p-1"]]);
    expect(messages(decision)).toEqual({ "p-2": exhausted, "p-3": exhausted });
    expect(codes(decision)).toEqual({ "p-2": "node-limit", "p-3": "node-limit" });
  });

  it("02:H-2 hold over rounds", () => {
    const there = node("n1").pool("default").running(web.cpu("4"));
    expect(messages(solved(limited("nodes", "1").nodes(there).pod(web)))).toEqual({ "p-0": exhausted });
    expect(sizesOfNewNodes(solved(limited("nodes", "2").nodes(there).pods(9, web)))).toEqual([8]);
  });

  it("02:H-2 overdrawn are told as limits", () => {
    const there = ["n1", "n2"].map((name) => node(name).pool("default").running(web.cpu("4")));
    expect(
      messages(
        solved(
          limited("nodes", "1")
            .nodes(...there)
            .pod(web),
        ),
      ),
    ).toEqual({ "p-0": exceeded });
  });

  it("02:H-2 of none make no nodes", () => {
    expect(messages(solved(limited("nodes", "0").pod(web)))).toEqual({ "p-0": exhausted });
  });

  it("02:H-2 leave room on nodes that are open", () => {
    expect(sizesOfNewNodes(solved(limited("nodes", "1").pods(8, web)))).toEqual([8]);
  });
});
