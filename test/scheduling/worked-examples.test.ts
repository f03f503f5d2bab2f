import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import {
  codes,
  messages,
  podsOnNodes,
  podsPer,
  podsPerNewNode,
  podsPerZone,
  poolsOfNewNodes,
  sizesOfNewNodes,
  typesPerNewNode,
} from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

describe("the worked examples of 02 §5.13", () => {
  it("02:X-25 1: with three, none and none, two pods go to the empty zones", () => {
    const full = node("n1").zone("a").cpu("3").running(web, web, web);
    expect(podsPerZone(solved(problem().nodes(full).pods(2, web.spread("zone"))))).toEqual({ b: 1, c: 1 });
  });

  it("02:X-26 2: five pods, at most two a host", () => {
    const types = problem().types(instanceType("huge").cpu(64));
    expect(sizesOfNewNodes(solved(types.pods(5, web.spread("host", { maxSkew: 2 }))))).toEqual([2, 2, 1]);
  });

  it("02:X-25 3: three zones are too few for minDomains of five, and one in each is as many as may be", () => {
    const one = ["a", "b", "c"].map((zone) => node(`n-${zone}`).zone(zone).cpu("1").running(web));
    const decision = solved(
      problem()
        .nodes(...one)
        .pod(web.spread("zone", { minDomains: 5 })),
    );
    expect(codes(decision)).toEqual({ "p-0": "topology" });
    expect(messages(decision)["p-0"]).toContain("(counts = a: 1, b: 1, c: 1, ");
  });

  it("02:Q-40 4: a zone nobody has is preferred in vain", () => {
    expect(podsPerZone(solved(problem().pod(web.prefers(10, ["zone", "In", "z9"]))))).toEqual({ any: 1 });
  });

  it("02:Q-40 5: the first term is tried everywhere before the second is", () => {
    const terms = web.needs(["zone", "In", "c"]).needs(["zone", "In", "a"]);
    // A node in the second term's zone stands idle: a new one in the first term's zone comes before it.
    const decision = solved(problem().nodes(node("n1").zone("a")).pod(terms));
    expect([podsOnNodes(decision), podsPerZone(decision)]).toEqual([{}, { c: 1 }]);
    const hopeless = web.needs(["zone", "In", "z9"]).needs(["zone", "In", "b"]);
    expect(podsPerZone(solved(problem().pod(hopeless)))).toEqual({ b: 1 });
  });

  it("02:H-3 6: a limit of ten cpus, nodes of four or eight, three pods of three", () => {
    const decision = solved(problem().pools(nodePool().limit("cpu", "10")).types(small, large).pods(3, pod().cpu("3")));
    expect([typesPerNewNode(decision), podsPerNewNode(decision)]).toEqual([[["large"]], [["p-0", "p-1"]]]);
    expect(messages(decision)).toEqual({
      "p-2": "all available instance types exceed limits for nodepool (NodePool=default)",
    });
  });

  it("02:R-26 7: a label the pool leaves open becomes what pods make of it", () => {
    const open = problem().pools(nodePool().requires("team", "Exists"));
    const decision = solved(open.pod(web.on("team", "a"), web.on("team", "b"), pod().cpu("100m")));
    expect(podsPer("team", decision)).toEqual({ a: 2, b: 1 });
    expect(podsPer("team", solved(open.pod(web)))).toEqual({ any: 1 });
  });

  it("02:X-42 8: a pod that keeps from another, with no zone of its own, is everywhere", () => {
    const decision = solved(problem().pod(pod().cpu("2").apart("zone", { app: "web" }), web));
    expect([podsPerNewNode(decision), codes(decision)]).toEqual([[["p-0"]], { "p-1": "topology" }]);
  });

  it("02:Q-4 9: who needs a smaller one waits for it", () => {
    const decision = solved(problem().pod(pod().cpu("2").near("zone", { app: "web" }), web.on("zone", "c")));
    expect(podsPerZone(decision)).toEqual({ c: 2 });
  });

  it("02:Q-42 10: a soft taint is tolerated last", () => {
    const soft = nodePool("soft").weight(10).taint("slow:PreferNoSchedule");
    expect(poolsOfNewNodes(solved(problem().pools(soft, nodePool("plain")).pod(web)))).toEqual(["plain"]);
    expect(poolsOfNewNodes(solved(problem().pools(soft).pod(web)))).toEqual(["soft"]);
  });
});
