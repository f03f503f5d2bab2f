import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { codes, messages, podsOnNodes, podsPer, podsPerNewNode, podsPerZone } from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const even = web.spread("zone");
/** Full nodes with pods of the app, so many in each zone. */
function crowd(perZone: Readonly<Record<string, number>>) {
  return Object.entries(perZone).map(([zone, count]) =>
    node(`n-${zone}`)
      .zone(zone)
      .cpu(String(count))
      .running(...Array.from({ length: count }, () => web)),
  );
}

/** Only zone a has nodes left, though b and c are zones as well. */
const onlyInA = problem().types(small.soldOutIn("b").soldOutIn("c"));

describe("spreading over zones", () => {
  it("02:X-25 puts as many in each as in any other", () => {
    expect(podsPerZone(solved(problem().pods(6, even)))).toEqual({ a: 2, b: 2, c: 2 });
    expect(Object.values(podsPerZone(solved(problem().pods(4, even)))).sort()).toEqual([1, 1, 2]);
  });

  it("02:X-5 a selector may be written as an expression", () => {
    const selects = { matchExpressions: [{ key: "app", operator: "In", values: ["web"] }] };
    expect(podsPerZone(solved(problem().pods(3, web.spread("zone", { selects }))))).toEqual({ a: 1, b: 1, c: 1 });
  });

  it.each([
    ["by requirement", [nodePool().zones("a", "b")], { a: 2, b: 2 }],
    ["by label", [nodePool().label("zone", "b")], { b: 4 }],
    ["by both", [nodePool().zones("a", "b").label("zone", "b")], { b: 4 }],
    ["in several pools", [nodePool("x").zones("a"), nodePool("y").label("zone", "b")], { a: 2, b: 2 }],
  ])("02:X-1 the zones there are come from pools: %s", (_, pools, expected) => {
    expect(
      podsPerZone(
        solved(
          problem()
            .pools(...pools)
            .pods(4, even),
        ),
      ),
    ).toEqual(expected);
  });

  it("02:X-1 a zone only a type outside the pool has counts, and then nothing fits beyond the skew", () => {
    const types = [small.zones("a", "b"), instanceType("other").cpu(4).zones("c")];
    const decision = solved(
      problem()
        .pools(nodePool().requires("type", "In", "small"))
        .types(...types)
        .pods(4, even),
    );
    expect(podsPerZone(decision)).toEqual({ a: 1, b: 1 });
    expect(Object.values(codes(decision))).toEqual(["instance-types", "instance-types"]);
  });

  it("02 §12.2-8 a value a pool excludes is no zone", () => {
    const pools = problem().pools(nodePool().requires("rack", "NotIn", "r1"));
    expect(codes(solved(pools.pod(web.spread("rack"))))).toEqual({ "p-0": "topology" });
  });

  it("02:X-10 counts the pods that run", () => {
    const decision = solved(
      problem()
        .nodes(...crowd({ a: 2, b: 1 }))
        .pods(3, even),
    );
    expect(podsPerZone(decision)).toEqual({ b: 1, c: 2 });
  });

  const inA = onlyInA.namespace("other").nodes(node("n1").zone("a").cpu("0"));

  it("02:X-10 counts pods wherever they run: three in a zone are two too many", () => {
    const running = web.onNode("n1");
    expect(podsPerZone(solved(inA.bound(running, running, running).pod(even)))).toEqual({});
  });

  it.each([
    ["that are over", web.onNode("n1").phase("Succeeded")],
    ["that failed", web.onNode("n1").phase("Failed")],
    ["that are ending", web.onNode("n1").terminating()],
    ["of other apps", web.onNode("n1").label("app", "db")],
    ["of other namespaces", web.onNode("n1").namespace("other")],
    ["that have no node", web],
    ["on unknown nodes", web.onNode("gone")],
  ])("02:X-10 but pods %s are not counted", (_, other) => {
    expect(podsPerZone(solved(inA.bound(other, other, other).pod(even)))).toEqual({ a: 1 });
  });

  it("02:X-10 nor pods on nodes without the label", () => {
    const nowhere = node("n2").without("zone").cpu("2").running(web, web);
    expect(podsPerZone(solved(inA.nodes(nowhere).pod(even)))).toEqual({ a: 1 });
  });

  it("02:X-10 a zone that only a node has is one of them", () => {
    const decision = solved(problem().nodes(node("n1").zone("z8").cpu("0")).pods(7, even));
    // z8 stays empty, and so no other zone may have more than one.
    expect(podsPerZone(decision)).toEqual({ a: 1, b: 1, c: 1 });
    expect(Object.values(codes(decision))).toHaveLength(4);
  });

  it("02:X-25 takes a zone that is not the emptiest while the skew allows, and no longer", () => {
    const empty = node("n-c").zone("c").cpu("0");
    const there = problem()
      .pools(nodePool().zones("a"))
      .nodes(...crowd({ a: 1, b: 1 }), empty);
    expect(podsPerZone(solved(there.pods(3, web.spread("zone", { maxSkew: 2 }))))).toEqual({ a: 1 });
    expect(podsPerZone(solved(there.pods(3, web.spread("zone", { maxSkew: 3 }))))).toEqual({ a: 2 });
    expect(podsPerZone(solved(there.pods(3, even)))).toEqual({});
  });

  it("02:X-25 leaves pods waiting rather than break the skew", () => {
    const decision = solved(onlyInA.pods(3, even));
    expect(podsPerZone(decision)).toEqual({ a: 1 });
    expect(Object.keys(messages(decision))).toHaveLength(2);
  });

  it("02:X-27 an unknown key has no domains", () => {
    expect(codes(solved(problem().pod(web.spread("rack"))))).toEqual({ "p-0": "topology" });
    const soft = web.spread("rack", { whenUnsatisfiable: "ScheduleAnyway" });
    expect(podsPerNewNode(solved(problem().pod(soft)))).toEqual([["p-0"]]);
  });

  it("02:X-9 without a selector, or with one that is wrong, nobody is counted", () => {
    const selects = { matchExpressions: [{ key: "app", operator: "Wrong", values: ["web"] }] };
    for (const options of [{ selects: "none" as const }, { selects }]) {
      const decision = solved(onlyInA.nodes(...crowd({ a: 3 })).pods(4, web.spread("zone", options)));
      expect(podsPerZone(decision)).toEqual({ a: 4 });
    }
  });

  it("02:X-5 pods that select each other share their zones", () => {
    const one = pod()
      .label("kind", "x")
      .label("app", "web")
      .cpu("1")
      .spread("zone", { selects: { app: "web" } });
    const other = one.label("kind", "y");
    expect(podsPerZone(solved(problem().pods(3, one).pods(3, other)))).toEqual({ a: 2, b: 2, c: 2 });
  });

  it.each([
    ["unmet: no zone may have more than one", 4, 6, { a: 1, b: 1, c: 1 }],
    ["just met", 3, 6, { a: 2, b: 2, c: 2 }],
    ["exceeded", 2, 6, { a: 2, b: 2, c: 2 }],
  ])("02:X-25 minDomains %s", (_, minDomains, pods, expected) => {
    expect(podsPerZone(solved(problem().pods(pods, web.spread("zone", { minDomains }))))).toEqual(expected);
  });

  it("02 §11.8-6 where a zone cannot be had, another of those just as good is taken", () => {
    for (let seed = 0; seed < 8; seed++) {
      const sold = problem().seed(seed).types(small.soldOutIn("a").soldOutIn("c"));
      expect(podsPerZone(solved(sold.pod(even)))).toEqual({ b: 1 });
    }
  });
});

describe("spreading over other labels", () => {
  it("02:X-25 over capacity types", () => {
    expect(podsPer("capacity-type", solved(problem().pods(4, web.spread("capacity-type"))))).toEqual({
      "on-demand": 2,
      spot: 2,
    });
  });

  it("02:X-1 as far as the pool allows", () => {
    const pools = problem().pools(nodePool().requires("capacity-type", "In", "spot"));
    expect(podsPer("capacity-type", solved(pools.pods(4, web.spread("capacity-type"))))).toEqual({ spot: 4 });
  });

  it("02:X-25 DoNotSchedule waits where one kind cannot be had, ScheduleAnyway does not", () => {
    const sold = ["a", "b", "c"].reduce((type, zone) => type.soldOutIn(zone, "spot"), small);
    const hard = solved(problem().types(sold).pods(3, web.spread("capacity-type")));
    expect(podsPer("capacity-type", hard)).toEqual({ "on-demand": 1 });
    expect(hard.refusals).toHaveLength(2);
    const soft = web.spread("capacity-type", { whenUnsatisfiable: "ScheduleAnyway" });
    expect(solved(problem().types(sold).pods(3, soft)).refusals).toEqual([]);
  });

  it("02:X-10 counts pods by their node's label", () => {
    const onSpot = node("n1").label("capacity-type", "spot").cpu("2").running(web, web);
    const decision = solved(problem().nodes(onSpot).pods(2, web.spread("capacity-type")));
    expect(podsPer("capacity-type", decision)).toEqual({ "on-demand": 2 });
  });

  it("02:X-25 over architectures", () => {
    const types = [small.label("arch", "amd64"), large.label("arch", "arm64")];
    const decision = solved(
      problem()
        .types(...types)
        .pods(4, web.spread("arch")),
    );
    expect(podsPer("arch", decision)).toEqual({ amd64: 2, arm64: 2 });
  });

  it("02:X-1 over a label of the pools' own", () => {
    const pools = [nodePool("x").label("rack", "r1"), nodePool("y").requires("rack", "In", "r2", "r3")];
    const decision = solved(
      problem()
        .pools(...pools)
        .pods(6, web.spread("rack")),
    );
    expect(podsPer("rack", decision)).toEqual({ r1: 2, r2: 2, r3: 2 });
  });

  it("02:X-27 a key that every object inherits is an unknown key", () => {
    const decision = solved(problem().nodes(node("n1").running(web)).pod(web.spread("constructor")));
    expect(codes(decision)).toEqual({ "p-0": "topology" });
  });

  it("02:X-20 over several at once: each is kept to", () => {
    const both = web.spread("zone").spread("capacity-type");
    const decision = solved(problem().types(small.zones("a", "b")).pods(4, both));
    expect([podsPerZone(decision), podsPer("capacity-type", decision)]).toEqual([
      { a: 2, b: 2 },
      { "on-demand": 2, spot: 2 },
    ]);
    const all = web.spread("zone").spread("capacity-type").spread("host");
    const three = solved(problem().types(small.zones("a", "b")).pods(4, all));
    expect(three.newNodes.map(({ pods }) => pods.length)).toEqual([1, 1, 1, 1]);
    expect(podsPerZone(three)).toEqual({ a: 2, b: 2 });
  });

  it("02 §11.8-5 two constraints on one key that choose differently leave no zone, and more pods find one", () => {
    const apps = crowd({ a: 1 });
    const dbs = node("n-db").zone("b").cpu("1").running(web.label("app", "db"));
    // One constraint has b and c to choose from, the other a and c: only c will do.
    const torn = web.spread("zone", { selects: { app: "web" } }).spread("zone", { selects: { app: "db" } });
    for (let seed = 0; seed < 8; seed++) {
      expect(
        podsPerZone(
          solved(
            problem()
              .seed(seed)
              .nodes(...apps, dbs)
              .pod(torn),
          ),
        ),
      ).toEqual({ c: 1 });
    }
  });
});

describe("spreading within bounds", () => {
  it.each([
    ["a node selector", even.on("zone", "b"), { b: 1 }],
    ["required affinity", even.needs(["zone", "In", "b"]), { b: 1 }],
    ["required affinity to two zones", even.needs(["zone", "In", "a", "b"]), { a: 2, b: 2 }],
    ["excluded zones", even.needs(["zone", "NotIn", "c"]), { a: 2, b: 2 }],
  ])("02:X-25 %s: only zones the pod could go to are compared", (_, one, expected) => {
    const count = Object.values(expected).reduce((sum, each) => sum + each, 0);
    expect(podsPerZone(solved(problem().pods(count, one)))).toEqual(expected);
  });

  it("02:X-20 a preferred zone does not narrow what is compared, and gives way", () => {
    const decision = solved(problem().pods(6, even.prefers(1, ["zone", "In", "a"])));
    expect(podsPerZone(decision)).toEqual({ a: 2, b: 2, c: 2 });
  });

  it("02:X-20 nor does a preference of something else", () => {
    const decision = solved(problem().pods(3, even.prefers(1, ["capacity-type", "In", "spot"])));
    expect([podsPerZone(decision), podsPer("capacity-type", decision)]).toEqual([{ a: 1, b: 1, c: 1 }, { spot: 3 }]);
  });

  it("02:X-7 matchLabelKeys: each revision is spread by itself; keys the pod lacks say nothing", () => {
    const revision = (name: string) =>
      pod()
        .label("app", "web")
        .label("rev", name)
        .cpu("1")
        .spread("zone", { selects: { app: "web" }, matchLabelKeys: ["rev", "lacking"] });
    const old = ["a", "b"].map((zone) => node(`n-${zone}`).zone(zone).cpu("1").running(revision("1")));
    const decision = solved(
      problem()
        .nodes(...old)
        .pods(3, revision("2")),
    );
    expect(podsPerZone(decision)).toEqual({ a: 1, b: 1, c: 1 });
  });
});

describe("which nodes are counted", () => {
  const tainted = nodePool("tainted").zones("c").taint("dedicated:NoSchedule");
  const plain = nodePool("plain").zones("a", "b");

  it("02:X-15 zones behind taints count unless told otherwise", () => {
    const decision = solved(problem().pools(tainted, plain).pods(4, even));
    expect(podsPerZone(decision)).toEqual({ a: 1, b: 1 });
    expect(decision.refusals).toHaveLength(2);
  });

  it("02:X-10 02:X-15 and do not count for a pod that honours them", () => {
    const honest = web.spread("zone", { nodeTaintsPolicy: "Honor" });
    expect(podsPerZone(solved(problem().pools(tainted, plain).pods(4, honest)))).toEqual({ a: 2, b: 2 });
    const brave = honest.tolerates({ operator: "Exists" });
    expect(podsPerZone(solved(problem().pools(tainted, plain).pods(3, brave)))).toEqual({ a: 1, b: 1, c: 1 });
  });

  it.each([
    ["Ignore", { b: 1 }],
    ["Honor", { a: 1 }],
  ] as const)("02:X-15 pods on tainted nodes, taints %s", (nodeTaintsPolicy, expected) => {
    const nodes = [
      node("n-a").zone("a").cpu("2").taint("dedicated:NoSchedule").running(web, web),
      node("n-b").zone("b").cpu("1").running(web),
    ];
    const one = web.needs(["zone", "In", "a", "b"]).spread("zone", { nodeTaintsPolicy });
    expect(
      podsPerZone(
        solved(
          problem()
            .nodes(...nodes)
            .pod(one),
        ),
      ),
    ).toEqual(expected);
  });

  it.each([
    ["Honor", { a: 1 }],
    ["Ignore", { b: 1 }],
  ] as const)("02:X-15 pods on nodes the pod could not use, affinity %s", (nodeAffinityPolicy, expected) => {
    const nodes = [
      node("n-a").zone("a").cpu("2").label("team", "blue").running(web, web),
      node("n-b").zone("b").cpu("1").label("team", "red").running(web),
    ];
    const pools = problem().pools(nodePool().zones("a", "b").label("team", "red"));
    const one = web.on("team", "red").spread("zone", { nodeAffinityPolicy });
    expect(podsPerZone(solved(pools.nodes(...nodes).pod(one)))).toEqual(expected);
  });

  it("02 §11.8-10 02:X-5 pods whose selectors differ in value alone are counted apart", () => {
    const pools = ["red", "blue"].map((team) => nodePool(team).label("team", team).zones("a", "b"));
    const one = (team: string) => web.on("team", team).spread("zone");
    const decision = solved(
      problem()
        .pools(...pools)
        .pods(2, one("red"))
        .pods(2, one("blue")),
    );
    expect(podsPerZone({ ...decision, newNodes: decision.newNodes.filter(({ pool }) => pool === "red") })).toEqual({
      a: 1,
      b: 1,
    });
    expect(podsPerZone({ ...decision, newNodes: decision.newNodes.filter(({ pool }) => pool === "blue") })).toEqual({
      a: 1,
      b: 1,
    });
  });

  it("02:X-40 a pod whose zone is open is counted nowhere", () => {
    const open = pod().label("app", "web").cpu("4");
    expect(podsPerZone(solved(problem().pod(open).pods(3, even)))).toEqual({ any: 1, a: 1, b: 1, c: 1 });
  });

  it("02:W-3 volumes narrow the node, not the zones that are compared", () => {
    const decision = solved(
      problem()
        .volumes({ claim: "v", zones: [["a"]] })
        .nodes(...crowd({ a: 1 }))
        .pod(even.volume("v")),
    );
    expect(podsOnNodes(decision)).toEqual({});
    expect(codes(decision)).toEqual({ "p-0": "topology" });
  });

  it("02:X-25 02:W-3 a volume's zone with too few domains for minDomains", () => {
    const wide = web.spread("zone", { minDomains: 3 }).volume("v");
    const decision = solved(
      problem()
        .volumes({ claim: "v", zones: [["a"]] })
        .pod(wide),
    );
    expect(podsPerZone(decision)).toEqual({ a: 1 });
  });
});
