import { describe, expect, it } from "vitest";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { daemon, pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { podsOnNodes, podsPerNewNode, podsPerZone, sizesOfNewNodes } from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

/** Whether the one pod goes to the one node rather than to a new one. */
function takes(one: ReturnType<typeof node>, wanted: typeof web): boolean {
  return solved(problem().nodes(one).pod(wanted)).placements.length === 1;
}

describe("existing nodes", () => {
  it("02:Q-6 are used before new ones are planned", () => {
    expect(podsOnNodes(solved(problem().nodes(node("n1")).pods(4, web)))).toEqual({ n1: ["p-0", "p-1", "p-2", "p-3"] });
  });

  it("02:Q-6 of no pool are used like others, and several are", () => {
    const decision = solved(problem().nodes(node("n1").cpu("1"), node("n2").cpu("2").pool("default")).pods(3, web));
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0"], n2: ["p-1", "p-2"] });
  });

  it("02:T-8 initialized ones first, then by name", () => {
    const nodes = [node("c").cpu("1"), node("a").cpu("1").uninitialized(), node("b").cpu("1")];
    expect(
      podsOnNodes(
        solved(
          problem()
            .nodes(...nodes)
            .pods(3, web),
        ),
      ),
    ).toEqual({ b: ["p-0"], c: ["p-1"], a: ["p-2"] });
  });

  it("02:T-8 pack the first before the next is touched", () => {
    const decision = solved(problem().nodes(node("n2"), node("n1")).pods(5, web));
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0", "p-1", "p-2", "p-3"], n2: ["p-4"] });
  });

  it("02:S-26 have what their pods leave", () => {
    const decision = solved(
      problem()
        .nodes(node("n1").running(web.cpu("3")))
        .pods(2, web),
    );
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0"] });
    expect(podsPerNewNode(decision)).toEqual([["p-1"]]);
  });

  it("02:A-9 overcommitted in one resource take no pods", () => {
    const over = node("n1").allocatable("example.com/fpga", "1").running(web.request("example.com/fpga", "2"));
    expect(takes(over, pod().cpu("100m"))).toBe(false);
  });

  it("02:A-8 a daemon that asks for what a node does not offer keeps nobody away from it", () => {
    const gpuAgent = daemon().cpu("1").request("nvidia.com/gpu", "1");
    const placed = (cpu: string) => solved(problem().nodes(node("n1")).daemons(gpuAgent).pod(web.cpu(cpu))).placements;
    expect(placed("3")).toHaveLength(1);
    expect(placed("3500m")).toHaveLength(0); // its cpu is kept all the same
  });

  it("02:G-1 keep room for a daemon though it does not tolerate a PreferNoSchedule taint", () => {
    const slow = node("n1").taint("slow:PreferNoSchedule");
    const wanted = web.cpu("4").tolerates({ operator: "Exists" });
    const withDaemons = (...daemons: readonly ReturnType<typeof daemon>[]) =>
      solved(
        problem()
          .nodes(slow)
          .daemons(...daemons)
          .pod(wanted),
      ).placements;
    expect(withDaemons()).toHaveLength(1);
    expect(withDaemons(daemon().cpu("1"))).toHaveLength(0);
  });

  it("02:X-10 not registered yet are in the domain of their claim", () => {
    const young = node("n1").unregistered("zone", "z8");
    const decision = solved(
      problem()
        .nodes(young)
        .pod(web.near("zone", { app: "web" })),
    );
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0"] });
  });

  it("02:E-4 a resource that is not up yet is not there", () => {
    const gpu = web.request("nvidia.com/gpu", "1");
    expect(takes(node("n1").allocatable("nvidia.com/gpu", "0"), gpu)).toBe(false);
    expect(takes(node("n1").allocatable("nvidia.com/gpu", "1"), gpu)).toBe(true);
  });

  it.each([
    ["its zone", web.on("zone", "a"), true],
    ["another zone", web.on("zone", "b"), false],
    ["a well-known label it lacks", web.on("capacity-type", "spot"), false],
    ["a well-known label it should not have", web.needs(["capacity-type", "NotIn", "spot"]), true],
    ["a label of one's own it lacks", web.on("team", "red"), false],
    ["that it exist", web.needs(["team", "Exists"]), false],
    ["that it not exist", web.needs(["team", "DoesNotExist"]), true],
    ["its host", web.needs(["host", "In", "n1"]), true],
    ["another host", web.needs(["host", "In", "n2"]), false],
  ])("02:E-5 labels are taken strictly: a pod that asks for %s", (_, one, expected) => {
    expect(takes(node("n1"), one)).toBe(expected);
  });

  it.each([
    ["none", node("n1"), web, true],
    ["one that is not tolerated", node("n1").taint("dedicated:NoSchedule"), web, false],
    [
      "one that is",
      node("n1").taint("dedicated:NoSchedule"),
      web.tolerates({ key: "dedicated", operator: "Exists" }),
      true,
    ],
    ["one that evicts", node("n1").taint("dedicated:NoExecute"), web, false],
    ["a soft one", node("n1").taint("slow:PreferNoSchedule"), web, false],
  ])("02:E-1 taints: %s", (_, one, wanted, expected) => expect(takes(one, wanted)).toBe(expected));

  it("02:E-3 host ports that are taken", () => {
    const busy = node("n1").running(web.hostPort(80));
    expect(takes(busy, web.hostPort(80))).toBe(false);
    expect(takes(busy, web.hostPort(81))).toBe(true);
    const decision = solved(problem().nodes(node("n1")).pods(2, web.hostPort(80)));
    expect([podsOnNodes(decision), podsPerNewNode(decision)]).toEqual([{ n1: ["p-0"] }, [["p-1"]]]);
  });

  it("02:E-6 take on what a pod asks, for those that come later", () => {
    const red = web.cpu("2").needs(["team", "NotIn", "blue"]);
    const decision = solved(
      problem()
        .nodes(node("n1"))
        .pod(red, web.needs(["team", "DoesNotExist"])),
    );
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0", "p-1"] });
  });

  it("02:T-6 are used though no pool has anything to sell", () => {
    const decision = solved(problem().pools(nodePool().zones("z9")).nodes(node("n1").cpu("1")).pods(2, web));
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0"] });
    expect(decision.refusals.map(({ code }) => code)).toEqual(["no-templates"]);
  });
});

describe("nodes that are starting", () => {
  const coming = node("c1").inFlight().pool("default");

  it("02:Q-6 are used like existing nodes", () => {
    expect(podsOnNodes(solved(problem().nodes(coming).pods(5, web)))).toEqual({ c1: ["p-0", "p-1", "p-2", "p-3"] });
  });

  it("02:E-5 are not used by pods they do not suit", () => {
    const decision = solved(problem().nodes(coming).pod(web.on("zone", "b")));
    expect([podsOnNodes(decision), podsPerZone(decision)]).toEqual([{}, { b: 1 }]);
  });

  it("02:X-26 count as hosts", () => {
    const decision = solved(problem().nodes(coming).pods(3, web.spread("host")));
    expect([podsOnNodes(decision), sizesOfNewNodes(decision)]).toEqual([{ c1: ["p-0"] }, [1, 1]]);
  });

  it("02:X-25 count as zones for those that land there", () => {
    const decision = solved(problem().nodes(coming).pods(3, web.spread("zone")));
    const inZones = { ...podsPerZone(decision), a: podsOnNodes(decision)["c1"]?.length ?? podsPerZone(decision)["a"] };
    expect(inZones).toEqual({ a: 1, b: 1, c: 1 });
  });

  it("02:E-4 keep room for daemons that are yet to come", () => {
    const agent = daemon().cpu("3");
    expect(podsOnNodes(solved(problem().nodes(coming).daemons(agent).pods(2, web)))).toEqual({ c1: ["p-0"] });
  });

  it("02:E-4 and none for daemons that have come", () => {
    const agent = daemon().cpu("3");
    const arrived = node("n1").uninitialized().runningDaemons(agent);
    expect(podsOnNodes(solved(problem().nodes(arrived).daemons(agent).pods(2, web)))).toEqual({ n1: ["p-0"] });
  });

  it("02:E-4 an unexpected daemon takes its resources and no other's", () => {
    const stray = node("n1").uninitialized().runningDaemons(daemon().cpu("2"));
    const agent = daemon().cpu("1");
    expect(podsOnNodes(solved(problem().nodes(stray).daemons(agent).pods(3, web)))).toEqual({ n1: ["p-0", "p-1"] });
  });

  it("02:E-4 daemons are held to the node's labels strictly", () => {
    const agent = daemon().cpu("3").on("capacity-type", "spot");
    expect(podsOnNodes(solved(problem().nodes(coming).daemons(agent).pods(2, web)))).toEqual({ c1: ["p-0", "p-1"] });
    const spot = coming.label("capacity-type", "spot");
    expect(podsOnNodes(solved(problem().nodes(spot).daemons(agent).pods(2, web)))).toEqual({ c1: ["p-0"] });
  });

  it("02:E-4 daemons are held to the node's taints", () => {
    const tainted = coming.taint("dedicated:NoSchedule");
    const brave = web.tolerates({ operator: "Exists" });
    const placed = (agent: typeof web) =>
      podsOnNodes(solved(problem().nodes(tainted).daemons(agent).pods(2, brave)))["c1"]?.length;
    expect(placed(daemon().cpu("3"))).toBe(2);
    expect(placed(daemon().cpu("3").tolerates({ operator: "Exists" }))).toBe(1);
  });

  it("02 §11.8-7 each term of a daemon's affinity is tried on a node that exists", () => {
    const agent = daemon().cpu("3").needs(["zone", "In", "b"]).needs(["zone", "In", "a"]);
    expect(podsOnNodes(solved(problem().nodes(node("n1")).daemons(agent).pods(2, web)))).toEqual({ n1: ["p-0"] });
  });
});

describe("nodes that are being deleted", () => {
  it("02:P-31 02:S-28 their pods are placed again, together, and the nodes are not used", () => {
    const leaving = ["n1", "n2", "n3"].map((name) => node(name).running(web));
    const decision = solved(problem().leaving(...leaving));
    expect(podsPerNewNode(decision)).toEqual([["n1-pod-0", "n2-pod-0", "n3-pod-0"]]);
  });

  it("02:X-10 their pods are not counted where they were", () => {
    const decision = solved(
      problem()
        .leaving(node("n1").zone("a").running(web.spread("zone")))
        .pods(2, web.spread("zone")),
    );
    expect(podsPerZone(decision)).toEqual({ a: 1, b: 1, c: 1 });
  });

  it("02:H-1 their capacity may be launched again", () => {
    const pool = nodePool().limit("cpu", "4");
    const decision = solved(problem().pools(pool).leaving(node("n1").pool("default").running(web)));
    expect(sizesOfNewNodes(decision)).toEqual([1]);
  });
});
