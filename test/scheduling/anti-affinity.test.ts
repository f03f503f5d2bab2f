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
  sizesOfNewNodes,
} from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const hermit = pod().label("app", "hermit").cpu("2");
const huge = problem().types(instanceType("huge").cpu(64));

describe("pods that keep away from others", () => {
  it("02:X-35 from their like, a host each", () => {
    expect(sizesOfNewNodes(solved(huge.pods(3, web.apart("host"))))).toEqual([1, 1, 1]);
  });

  it("02:X-35 from others, on hosts", () => {
    const decision = solved(huge.pod(hermit.apart("host", { app: "web" })).pods(2, web));
    expect(podsPerNewNode(decision)).toEqual([["p-0"], ["p-1", "p-2"]]);
  });

  it("02:X-35 from others, whoever comes first", () => {
    const decision = solved(huge.pods(2, web.cpu("3")).pod(hermit.apart("host", { app: "web" })));
    expect(podsPerNewNode(decision)).toEqual([["p-0", "p-1"], ["p-2"]]);
  });

  it("02:X-35 from their like, a zone each, and the fourth of three waits", () => {
    const one = (zone: string) => web.apart("zone").on("zone", zone);
    const decision = solved(problem().pod(one("a"), one("b"), one("c"), web.apart("zone")));
    expect(podsPerZone(decision)).toEqual({ a: 1, b: 1, c: 1 });
    expect(codes(decision)).toEqual({ "p-3": "topology" });
  });

  it("02:X-35 from others in zones, where those have settled", () => {
    const decision = solved(problem().pod(web.cpu("3").on("zone", "a"), hermit.apart("zone", { app: "web" })));
    expect(podsPerZone(decision)).toEqual({ a: 1, "b|c": 1 });
  });

  it("02:X-35 by architecture", () => {
    const types = [small.label("arch", "amd64"), large.label("arch", "arm64")];
    const decision = solved(
      problem()
        .types(...types)
        .pod(web.cpu("3").on("arch", "arm64"), hermit.apart("arch", { app: "web" })),
    );
    expect(podsPer("arch", decision)).toEqual({ arm64: 1, amd64: 1 });
  });

  it("02:X-42 without a zone of their own block every zone for the others", () => {
    const decision = solved(problem().pod(hermit.apart("zone", { app: "web" }), web));
    expect(podsPerNewNode(decision)).toEqual([["p-0"]]);
    expect(messages(decision)["p-1"]).toMatch(
      /^unsatisfiable topology constraint for pod anti-affinity, key=topology.kubernetes.io\/zone \(counts = a: 1, b: 1, c: 1, /,
    );
  });

  it("02:X-42 with a zone of their own block that one", () => {
    const decision = solved(problem().pod(hermit.apart("zone", { app: "web" }).on("zone", "a"), web));
    expect(podsPerZone(decision)).toEqual({ a: 1, "b|c": 1 });
  });

  it("02:X-40 from pods that may land in two zones: both are closed", () => {
    const wide = web.cpu("3").needs(["zone", "In", "a", "b"]);
    expect(podsPerZone(solved(problem().pod(wide, hermit.apart("zone", { app: "web" }))))).toEqual({ "a|b": 1, c: 1 });
  });

  it("02:X-40 02:X-41 from pods without a zone of their own: those take all there are, and none is left", () => {
    const decision = solved(problem().pod(web.cpu("3"), hermit.apart("zone", { app: "web" })));
    expect(podsPerZone(decision)).toEqual({ "a|b|c": 1 });
    expect(codes(decision)).toEqual({ "p-1": "topology" });
  });

  it("02:X-41 and run already: their zone is closed to those they keep from", () => {
    const there = node("n1")
      .zone("a")
      .cpu("4")
      .running(hermit.apart("zone", { app: "web" }));
    const decision = solved(problem().nodes(there).pod(web));
    expect([podsOnNodes(decision), podsPerZone(decision)]).toEqual([{}, { "b|c": 1 }]);
  });

  it("02:X-41 and run already: their host is closed to those they keep from", () => {
    const there = node("n1").running(hermit.apart("host", { app: "web" }));
    const decision = solved(problem().nodes(there).pod(web, web.label("app", "db")));
    expect([podsOnNodes(decision), podsPerNewNode(decision)]).toEqual([{ n1: ["p-1"] }, [["p-0"]]]);
  });

  it("02:X-41 and are of this round: they are not counted where they were", () => {
    const leaving = node("n1").zone("a").running(web.apart("zone").on("zone", "a"));
    expect(podsPerZone(solved(problem().leaving(leaving)))).toEqual({ a: 1 });
  });

  it("02:X-41 as a preference close nothing to others", () => {
    const there = node("n1").running(hermit.apart("host", { app: "web" }, { weight: 1 }));
    expect(podsOnNodes(solved(problem().nodes(there).pod(web)))).toEqual({ n1: ["p-0"] });
    const decision = solved(huge.pod(hermit.apart("host", { app: "web" }, { weight: 1 }), web));
    expect(sizesOfNewNodes(decision)).toEqual([2]);
  });

  it("02:X-35 from themselves and must be near others: both are kept to", () => {
    const nodes = ["a", "b"].map((zone) => node(`n-${zone}`).zone(zone).cpu("1").running(web));
    const pair = hermit.near("zone", { app: "web" }).apart("zone").on("zone", "a");
    expect(
      podsPerZone(
        solved(
          problem()
            .nodes(...nodes)
            .pod(pair),
        ),
      ),
    ).toEqual({ a: 1 });
    const torn = hermit.near("zone", { app: "web" }).apart("zone", { app: "web" });
    expect(
      codes(
        solved(
          problem()
            .nodes(...nodes)
            .pod(torn),
        ),
      ),
    ).toEqual({ "p-0": "instance-types" });
  });

  it("02:X-8 in namespaces they name", () => {
    const there = node("n1").zone("a").cpu("1").running(web.namespace("other"));
    const world = problem().namespace("other").nodes(there);
    expect(podsPerZone(solved(world.pod(hermit.apart("zone", { app: "web" }))))).toEqual({ "a|b|c": 1 });
    const named = hermit.apart("zone", { app: "web" }, { namespaces: ["other"] });
    expect(podsPerZone(solved(world.pod(named)))).toEqual({ "b|c": 1 });
  });

  it("02:X-1 only in zones their pools have", () => {
    const pools = problem().pools(nodePool().zones("a", "b"));
    const decision = solved(pools.pods(3, web.apart("zone").on("zone", "a")));
    expect(podsPerZone(decision)).toEqual({ a: 1 });
    expect(decision.refusals).toHaveLength(2);
  });
});

describe("pods that would rather keep away", () => {
  it("02:Q-41 do, though it takes a new node", () => {
    const preferred = web.apart("host", { app: "web" }, { weight: 1 });
    expect(sizesOfNewNodes(solved(huge.pods(3, preferred)))).toEqual([1, 1, 1]);
  });

  it("02:Q-40 do not where there is no other way", () => {
    const nodes = huge.pools(nodePool().limit("nodes", "1"));
    const preferred = web.apart("host", { app: "web" }, { weight: 1 });
    expect(sizesOfNewNodes(solved(nodes.pods(3, preferred)))).toEqual([3]);
  });

  it("02:Q-41 under Ignore do not", () => {
    const preferred = web.apart("host", { app: "web" }, { weight: 1 });
    expect(sizesOfNewNodes(solved(huge.policy({ preferences: "Ignore" }).pods(3, preferred)))).toEqual([3]);
  });
});
