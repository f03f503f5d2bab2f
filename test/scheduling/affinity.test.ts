import { describe, expect, it } from "vitest";
import { solve } from "../../src/core/scheduling/solve.ts";
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

const leader = pod().label("app", "leader").cpu("1");
const follower = pod().label("app", "follower").cpu("1");
const huge = problem().types(instanceType("huge").cpu(64));

describe("pods that want to be near others", () => {
  it("02:X-30 an empty affinity asks for nothing", () => {
    const bare = problem().pod(web).build();
    const affinity = { nodeAffinity: {}, podAffinity: {}, podAntiAffinity: {} };
    const pods = bare.pods.map((one) => ({ ...one, spec: { ...one.spec, affinity } }));
    expect(podsPerNewNode(solve({ ...bare, pods }))).toEqual([["p-0"]]);
  });

  it("02:X-31 on one host", () => {
    const decision = solved(huge.pods(3, follower.near("host", { app: "leader" })).pod(leader.cpu("2")));
    expect(podsPerNewNode(decision)).toEqual([["p-3", "p-0", "p-1", "p-2"]]);
  });

  it("02:X-30 by architecture", () => {
    const types = [small.label("arch", "amd64"), large.label("arch", "arm64")];
    const decision = solved(
      problem()
        .types(...types)
        .pod(leader.cpu("3").on("arch", "arm64"), follower.cpu("2").near("arch", { app: "leader" })),
    );
    expect(podsPer("arch", decision)).toEqual({ arm64: 2 });
  });

  it("02:X-31 themselves, on one host: what does not fit waits, in this round and the next", () => {
    const clingy = web.near("host");
    const decision = solved(problem().pods(6, clingy));
    expect(podsPerNewNode(decision)).toEqual([["p-0", "p-1", "p-2", "p-3"]]);
    expect(codes(decision)).toEqual({ "p-4": "topology", "p-5": "topology" });
    const full = node("n1").cpu("4").running(clingy, clingy, clingy, clingy);
    expect(codes(solved(problem().nodes(full).pods(2, clingy)))).toEqual({ "p-0": "topology", "p-1": "topology" });
  });

  it("02:X-31 themselves, on one host that the pod must not choose freely", () => {
    const decision = solved(problem().pods(2, web.near("host").on("zone", "b")));
    expect([sizesOfNewNodes(decision), podsPerZone(decision)]).toEqual([[2], { b: 2 }]);
  });

  it("02:X-30 themselves, in one zone, on as many nodes as it takes", () => {
    const decision = solved(problem().pods(10, web.near("zone")));
    expect(Object.values(podsPerZone(decision))).toEqual([10]);
  });

  it("02:X-30 themselves, in one zone of those they may use", () => {
    const decision = solved(problem().pods(5, web.near("zone").needs(["zone", "In", "b"])));
    expect(podsPerZone(decision)).toEqual({ b: 5 });
  });

  it("02:X-30 themselves, where some are already", () => {
    const decision = solved(problem().nodes(node("n1").zone("b").cpu("1").running(web)).pods(5, web.near("zone")));
    expect(podsPerZone(decision)).toEqual({ b: 5 });
  });

  it("02:X-30 themselves, where some are in a zone they cannot use: they begin elsewhere", () => {
    const there = node("n1").zone("b").cpu("1").running(web);
    const decision = solved(problem().nodes(there).pods(2, web.near("zone").on("zone", "a")));
    expect(podsPerZone(decision)).toEqual({ a: 2 });
  });

  it("02:X-30 of two kinds, by different selectors: a node for each", () => {
    const one = pod().label("app", "one").cpu("1").near("host");
    const other = pod().label("app", "other").cpu("1").near("host").apart("host", { app: "one" });
    expect(podsPerNewNode(solved(huge.pods(2, one).pods(2, other)))).toEqual([
      ["p-0", "p-1"],
      ["p-2", "p-3"],
    ]);
  });

  it("02:X-30 where others are not, nobody can follow", () => {
    const decision = solved(problem().pods(2, follower.near("zone", { app: "leader" })));
    expect(codes(decision)).toEqual({ "p-0": "topology", "p-1": "topology" });
    expect(messages(decision)["p-0"]).toBe(
      "unsatisfiable topology constraint for pod affinity, key=topology.kubernetes.io/zone (counts = a: 0, b: 0, c: 0, podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone Exists",
    );
  });

  it("02:X-40 where the others' zone is open, they are counted nowhere yet", () => {
    const decision = solved(problem().pod(leader.cpu("4"), follower.near("zone", { app: "leader" })));
    expect(podsPerNewNode(decision)).toEqual([["p-0"]]);
    expect(codes(decision)).toEqual({ "p-1": "topology" });
  });

  it("02:X-30 where the others' zone is settled, there", () => {
    const decision = solved(problem().pod(leader.cpu("4").on("zone", "c"), follower.near("zone", { app: "leader" })));
    expect(podsPerZone(decision)).toEqual({ c: 2 });
  });

  it("02:X-30 where the others are in several zones, any of those", () => {
    const nodes = ["a", "b"].map((zone) => node(`n-${zone}`).zone(zone).cpu("1").running(leader));
    const decision = solved(
      problem()
        .nodes(...nodes)
        .pod(follower.near("zone", { app: "leader" })),
    );
    expect(podsPerZone(decision)).toEqual({ "a|b": 1 });
  });

  it("02:Q-4 in a chain, whatever the order", () => {
    const chain = [
      pod().label("app", "c").cpu("3").near("zone", { app: "b" }),
      pod().label("app", "b").cpu("2").near("zone", { app: "a" }),
      pod().label("app", "a").cpu("1").on("zone", "b"),
    ];
    expect(podsPerZone(solved(problem().pod(...chain)))).toEqual({ b: 3 });
  });

  it("02:Q-2 in a chain whose end is missing", () => {
    const chain = [
      pod().label("app", "c").cpu("3").near("zone", { app: "b" }),
      pod().label("app", "b").cpu("2").near("zone", { app: "a" }),
    ];
    expect(codes(solved(problem().pod(...chain)))).toEqual({ "p-0": "topology", "p-1": "topology" });
  });

  it("02:X-20 in a zone that the spread of others does not allow", () => {
    const there = node("n1").zone("a").cpu("1").running(leader);
    const one = follower.near("zone", { app: "leader" }).on("zone", "b");
    expect(codes(solved(problem().nodes(there).pod(one)))).toEqual({ "p-0": "topology" });
  });

  it("02:X-10 domains behind taints the first such pod does not tolerate are none (02 §12.2-10)", () => {
    const pools = problem().pools(nodePool("t").zones("c").taint("x:NoSchedule"), nodePool("p").zones("a"));
    const decision = solved(pools.pods(2, web.near("zone")));
    expect(podsPerZone(decision)).toEqual({ a: 2 });
  });
});

describe("which namespaces they mean", () => {
  const elsewhere = node("n1").zone("b").cpu("1").running(leader.namespace("other"));
  const world = problem().namespace("other", { kind: "other" }).nodes(elsewhere);

  it.each([
    ["their own", {}, false],
    ["a list", { namespaces: ["other"] }, true],
    ["a list without it", { namespaces: ["default"] }, false],
    ["all, by an empty selector", { namespaceSelector: {} }, true],
    ["by label", { namespaceSelector: { matchLabels: { kind: "other" } } }, true],
    ["by another label", { namespaceSelector: { matchLabels: { kind: "none" } } }, false],
    [
      "a list and a selector together",
      { namespaces: ["other"], namespaceSelector: { matchLabels: { kind: "none" } } },
      true,
    ],
  ])("02:X-8 %s", (_, options, isFound) => {
    const decision = solved(world.pod(follower.near("zone", { app: "leader" }, options)));
    expect(podsPerZone(decision)).toEqual(isFound ? { b: 1 } : {});
  });
});

describe("pods that would like to be near others", () => {
  it("02:Q-41 are, where it can be done", () => {
    const decision = solved(
      problem().pod(leader.cpu("2").on("zone", "c"), follower.near("zone", { app: "leader" }, { weight: 1 })),
    );
    expect(podsPerZone(decision)).toEqual({ c: 2 });
  });

  it("02:Q-40 are not, where it cannot", () => {
    const decision = solved(problem().pod(follower.near("zone", { app: "nobody" }, { weight: 1 })));
    expect(podsPerNewNode(decision)).toEqual([["p-0"]]);
  });

  it("02:Q-40 drop the heaviest preference first", () => {
    const nodes = [node("n-a").zone("a").cpu("1").running(leader), node("n-b").zone("b").cpu("1").running(web)];
    const torn = follower.near("zone", { app: "leader" }, { weight: 1 }).near("zone", { app: "web" }, { weight: 50 });
    expect(
      podsPerZone(
        solved(
          problem()
            .nodes(...nodes)
            .pod(torn),
        ),
      ),
    ).toEqual({ a: 1 });
  });

  it("02:Q-41 under Ignore are not looked at", () => {
    const nodes = problem().nodes(node("n1"), node("n2").zone("c").running(leader));
    const one = follower.near("zone", { app: "leader" }, { weight: 1 });
    expect(podsOnNodes(solved(nodes.pod(one)))).toEqual({ n2: ["p-0"] });
    expect(podsOnNodes(solved(nodes.policy({ preferences: "Ignore" }).pod(one)))).toEqual({ n1: ["p-0"] });
  });
});
