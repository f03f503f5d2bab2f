import { describe, expect, it } from "vitest";
import { labels } from "../../src/api/labels.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { daemon, pod } from "../builders/pod.ts";
import { type ProblemBuilder, problem } from "../builders/problem.ts";
import {
  messages,
  podsOnNodes,
  podsPer,
  podsPerNewNode,
  podsPerZone,
  poolsOfNewNodes,
  typesPerNewNode,
} from "../builders/readers.ts";
import { type SlowDecision, solveSlowly } from "./solve.ts";

const web = pod().label("app", "web").cpu("1");
const small = instanceType("small").cpu(4);
const large = instanceType("large").cpu(8);

function solved(builder: ProblemBuilder): SlowDecision {
  return solveSlowly(builder.build());
}

describe("the worked examples of 02 §5.13", () => {
  it("1: 02:X-25 fills the empty zones before the full one", () => {
    const full = node("n1").zone("a").cpu("3").running(web, web, web);
    const decision = solved(problem().nodes(full).pods(2, web.spread("zone")));
    expect(podsPerZone(decision)).toEqual({ b: 1, c: 1 });
  });

  it("2: 02:X-26 puts at most maxSkew pods on a host", () => {
    const decision = solved(
      problem()
        .types(instanceType("huge").cpu(64))
        .pods(5, web.spread("host", { maxSkew: 2 })),
    );
    expect(podsPerNewNode(decision).map((pods) => pods.length)).toEqual([2, 2, 1]);
  });

  it("3: 02:X-25 with too few domains for minDomains every domain counts as one too many", () => {
    const taken = ["a", "b", "c"].map((zone) => node(`n-${zone}`).zone(zone).cpu("1").running(web));
    const decision = solved(
      problem()
        .nodes(...taken)
        .pod(web.spread("zone", { minDomains: 5 })),
    );
    const counts = "(counts = a: 1, b: 1, c: 1, ";
    expect(messages(decision)["p-0"]).toContain(counts);
  });

  it("4: 02:Q-40 drops a preference that nothing satisfies", () => {
    const decision = solved(problem().pod(web.prefers(10, ["zone", "In", "z9"])));
    expect(podsPerZone(decision)).toEqual({ any: 1 });
  });

  it("5: 02:Q-40 tries the second required term when the first is hopeless", () => {
    const decision = solved(problem().pod(web.needs(["zone", "In", "z9"]).needs(["zone", "In", "b"])));
    expect(podsPerZone(decision)).toEqual({ b: 1 });
  });

  it("6: 02:H-3 charges the largest type a new node could be", () => {
    const decision = solved(problem().pools(nodePool().limit("cpu", "10")).types(small, large).pods(3, pod().cpu("3")));
    expect(typesPerNewNode(decision)).toEqual([["large"]]);
    expect(podsPerNewNode(decision)).toEqual([["p-0", "p-1"]]);
    expect(messages(decision)).toEqual({
      "p-2": "all available instance types exceed limits for nodepool (NodePool=default)",
    });
  });

  it("7: 02:R-26 a pool with a free custom label makes a node for each value", () => {
    const pools = problem().pools(nodePool().requires("team", "Exists"));
    const decision = solved(pools.pod(web.on("team", "a"), web.on("team", "b"), pod().cpu("100m")));
    expect(podsPer("team", decision)).toEqual({ a: 2, b: 1 });
    expect(podsPer("team", solved(pools.pod(web)))).toEqual({ any: 1 });
  });

  it("8: 02:X-42 a repelling pod without a zone blocks them all", () => {
    const decision = solved(
      problem().pod(pod().cpu("2").apart("zone", { app: "x" }), pod().label("app", "x").cpu("1")),
    );
    expect(podsPerNewNode(decision)).toEqual([["p-0"]]);
    expect(messages(decision)["p-1"]).toContain("pod anti-affinity");
  });

  it("9: 02:Q-4 a pod that needs a smaller one waits for it", () => {
    const decision = solved(
      problem().pod(pod().cpu("2").near("zone", { app: "b" }), web.label("app", "b").on("zone", "c")),
    );
    expect(podsPerZone(decision)).toEqual({ c: 2 });
  });

  it("10: 02:Q-42 a soft taint is tolerated last", () => {
    const soft = nodePool("soft").weight(10).taint("slow:PreferNoSchedule");
    expect(poolsOfNewNodes(solved(problem().pools(soft, nodePool("plain")).pod(web)))).toEqual(["plain"]);
    expect(poolsOfNewNodes(solved(problem().pools(soft).pod(web)))).toEqual(["soft"]);
  });
});

describe("the twin, rule by rule", () => {
  it("02:Q-1 starts with the largest, then with the oldest", () => {
    const decision = solved(problem().pod(pod().cpu("1"), pod().cpu("1").memory("1Gi"), pod().cpu("2")));
    expect(podsPerNewNode(decision)).toEqual([["p-2", "p-1", "p-0"]]);
  });

  it("02:T-1 tries the heaviest pool, then the last by name", () => {
    const pools = [nodePool("a"), nodePool("b"), nodePool("c").weight(1)];
    expect(
      poolsOfNewNodes(
        solved(
          problem()
            .pools(...pools)
            .pod(web),
        ),
      ),
    ).toEqual(["c"]);
    expect(
      poolsOfNewNodes(
        solved(
          problem()
            .pools(...pools.slice(0, 2))
            .pod(web),
        ),
      ),
    ).toEqual(["b"]);
  });

  it("02:T-8 fills initialized nodes first, by name", () => {
    const nodes = [node("n3").cpu("1"), node("n1").cpu("1").uninitialized(), node("n2").cpu("1")];
    const decision = solved(
      problem()
        .nodes(...nodes)
        .pods(3, web),
    );
    expect(podsOnNodes(decision)).toEqual({ n2: ["p-0"], n3: ["p-1"], n1: ["p-2"] });
  });

  it("02:E-4 keeps room for daemons that are yet to come, and only for those", () => {
    const agent = daemon().cpu("3").on("zone", "a");
    expect(podsOnNodes(solved(problem().nodes(node("n1")).daemons(agent).pods(2, web)))).toEqual({ n1: ["p-0"] });
    expect(podsOnNodes(solved(problem().nodes(node("n1").zone("b")).daemons(agent).pods(2, web)))).toEqual({
      n1: ["p-0", "p-1"],
    });
  });

  it("02:E-4 looks at every term of a daemon's affinity, unlike upstream (quirk 5)", () => {
    const agent = daemon().cpu("3").needs(["zone", "In", "b"]).needs(["zone", "In", "a"]);
    expect(podsOnNodes(solved(problem().nodes(node("n1")).daemons(agent).pods(2, web)))).toEqual({ n1: ["p-0"] });
  });

  it("02:Q-20 gives the next pod to the node with the fewest", () => {
    const apart = pod().label("app", "x").cpu("2").apart("host");
    const decision = solved(problem().types(large).pods(2, apart).pods(2, web));
    expect(podsPerNewNode(decision)).toEqual([
      ["p-0", "p-2"],
      ["p-1", "p-3"],
    ]);
  });

  it("02:F-3 tells what was missing", () => {
    const decision = solved(problem().pod(pod().cpu("5"), web.on("zone", "z9"), web.on("type", "none")));
    const prefix = "requirements=karpenter.kwok.sh/kwoknodeclass In [default], karpenter.sh/initialized In [true], ";
    const found = messages(decision);
    expect(found["p-0"]).toBe(
      `no instance type has enough resources, ${prefix}karpenter.sh/nodepool In [default], karpenter.sh/registered In [true], resources={"cpu":"5","pods":"1"}`,
    );
    expect(found["p-1"]).toMatch(/^no instance type met the scheduling requirements or had enough resources or had a /);
    expect(found["p-2"]).toMatch(/^no instance type met all requirements, requirements=/);
  });

  it("02:F-3 says how large the pod is with the fewest and with the most daemons", () => {
    const types = [small.label("size", "s"), large.label("size", "l")];
    const daemons = [daemon().cpu("1"), daemon().cpu("2").on("type", "large")];
    const decision = solved(
      problem()
        .types(...types)
        .daemons(...daemons)
        .pod(pod().cpu("6")),
    );
    expect(messages(decision)["p-0"]).toMatch(/resources=min={"cpu":"7","pods":"2"}, max={"cpu":"9","pods":"3"}$/);
  });

  it("02:F-4 a host port that every group of daemons has leaves no type", () => {
    const decision = solved(problem().daemons(daemon().hostPort(80)).pod(web.hostPort(80)));
    expect(messages(decision)["p-0"]).toContain("or had a required offering");
  });

  it("02:G-3 counts the least of the daemons once", () => {
    const daemons = [daemon().cpu("1"), daemon().cpu("2").on("type", "large")];
    const [planned] = solved(
      problem()
        .types(small, large)
        .daemons(...daemons)
        .pods(2, web),
    ).newNodes;
    expect(JSON.parse(JSON.stringify(planned?.requests))).toEqual({ cpu: "3", pods: "3" });
  });

  it("02:H-2 charges `nodes` within the round, unlike upstream (quirk 2)", () => {
    const decision = solved(problem().pools(nodePool().limit("nodes", "1")).pods(2, web.apart("host")));
    expect(messages(decision)).toEqual({
      "p-1": "node limits have been exhausted for nodepool (NodePool=default)",
    });
  });

  it("02:W-3 volumes constrain the node, and the first alternative that works is taken", () => {
    const volumes = [{ claim: "v", zones: [["z9"], ["b"]] }];
    expect(
      podsPerZone(
        solved(
          problem()
            .volumes(...volumes)
            .pod(web.volume("v")),
        ),
      ),
    ).toEqual({ b: 1 });
  });

  it("02:X-5 spreads with different minDomains are different groups, unlike upstream (quirk 3)", () => {
    const decision = solved(
      problem()
        .pods(4, web.spread("zone"))
        .pod(web.cpu("500m").spread("zone", { minDomains: 5 })),
    );
    expect(Object.keys(messages(decision))).toEqual(["p-4"]);
  });

  it("02:X-9 a spread without a selector counts nobody, unlike upstream (quirk 4)", () => {
    const crowd = node("n1").zone("a").cpu("3").running(web, web, web);
    const decision = solved(
      problem()
        .nodes(crowd)
        .pod(web.on("zone", "a").spread("zone", { selects: "none" })),
    );
    expect(messages(decision)).toEqual({});
  });

  it("02:X-30 one draw settles where pods that want each other begin (quirk 25)", () => {
    for (let seed = 0; seed < 10; seed++) {
      const decision = solved(problem().seed(seed).pods(4, pod().label("app", "x").cpu("3").near("zone")));
      expect(Object.values(podsPerZone(decision))).toEqual([4]);
    }
  });

  it("02 §12.1-3 tries the next of equal zones when no type is to be had in the first", () => {
    for (let seed = 0; seed < 10; seed++) {
      const decision = solved(
        problem()
          .seed(seed)
          .types(small.soldOutIn("a").soldOutIn("b"))
          .pod(web.spread("zone", { maxSkew: 5 })),
      );
      expect(podsPerZone(decision)).toEqual({ c: 1 });
    }
  });

  it("02:X-41 pods that run repel those of the round", () => {
    const hermit = web.label("app", "hermit").apart("zone", { app: "web" });
    const decision = solved(problem().nodes(node("n1").zone("a").cpu("1").running(hermit)).pod(web));
    expect(podsPerZone(decision)).toEqual({ "b|c": 1 });
  });

  it("02:Y-3 a pod waits for a reservation that is taken", () => {
    const reserved = small.reserved("cr-1", { zone: "a", capacity: 1 });
    const decision = solved(problem().types(reserved).pods(2, web.apart("host")));
    expect(decision.newNodes.map(({ reservations }) => reservations)).toEqual([["cr-1"]]);
    expect(podsPer("capacity-type", decision)).toEqual({ reserved: 1 });
    expect(messages(decision)).toEqual({
      "p-1": "one or more instance types with compatible reserved offerings are available, but could not be reserved",
    });
    const fallback = solved(problem().policy({ reservedMode: "Fallback" }).types(reserved).pods(2, web.apart("host")));
    expect(messages(fallback)).toEqual({});
  });

  it("02:F-2 minValues fail when strict and give way when not, but only at the opening", () => {
    const pools = problem().pools(nodePool().minValues("type", 2)).types(small, large).pods(2, pod().cpu("3"));
    expect(podsPerNewNode(solved(pools))).toEqual([["p-0"], ["p-1"]]);
    const tall = pools.pod(pod().cpu("7"));
    expect(Object.values(messages(solved(tall)))).toEqual([
      expect.stringContaining("minValues requirement is not met"),
    ]);
    const relaxed = solved(tall.policy({ minValues: "BestEffort" }));
    expect(relaxed.newNodes.map(({ minValuesRelaxed }) => minValuesRelaxed)).toEqual([true, false, false]);
  });

  it("02:P-32 without pools nothing is tried, without types existing nodes are", () => {
    const nodes = problem().nodes(node("n1").cpu("1")).pods(2, web);
    expect(Object.values(messages(solved(nodes.pools())))).toEqual(Array(2).fill("no dynamic nodepools found"));
    const filtered = solved(nodes.pools(nodePool().zones("z9")));
    expect(podsOnNodes(filtered)).toEqual({ n1: ["p-0"] });
    expect(messages(filtered)).toEqual({
      "p-1": "nodepool requirements filtered out all available instance types",
    });
    expect(filtered.emptyPools).toEqual([{ pool: "default", becauseOfMinValues: false }]);
  });

  it("02:L-1 orders types by the cheapest offering that is left, then by name", () => {
    const types = [small.priceIn("b", 9), instanceType("twin").cpu(4), large.priceIn("a", 0.1, "spot")];
    const decision = solved(
      problem()
        .types(...types)
        .pod(web.on("zone", "a")),
    );
    expect(typesPerNewNode(decision)).toEqual([["large", "small", "twin"]]);
    expect(decision.newNodes[0]?.price).toBe(0.1);
    expect(decision.newNodes[0]?.requirements.get(labels.zone).singleValue).toBe("a");
  });
});
