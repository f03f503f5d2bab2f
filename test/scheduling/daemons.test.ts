import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { nodePool } from "../builders/node-pool.ts";
import { daemon, type PodBuilder } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { codes, messages, requestsPerNewNode, sizesOfNewNodes, typesPerNewNode } from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const agent = daemon().cpu("1");
const sizes = problem().types(small, large);

/** Whether the daemon is expected beside one pod in one pool. */
function counts(one: PodBuilder, pool = nodePool(), wanted = web): boolean {
  const [requests] = requestsPerNewNode(solved(problem().pools(pool).daemons(one).pod(wanted)));
  return requests?.["cpu"] === "2";
}

describe("room for daemons", () => {
  it("02:G-3 is reserved once for each node, whatever its pods", () => {
    const decision = solved(problem().daemons(agent).pods(3, web));
    expect([sizesOfNewNodes(decision), requestsPerNewNode(decision)]).toEqual([[3], [{ cpu: "4", pods: "4" }]]);
  });

  it("02:F-1 makes types too small that would be large enough without it", () => {
    expect(typesPerNewNode(solved(sizes.pod(web.cpu("4"))))).toEqual([["small", "large"]]);
    expect(typesPerNewNode(solved(sizes.daemons(agent).pod(web.cpu("4"))))).toEqual([["large"]]);
  });

  it("02:F-1 makes every node too small", () => {
    const decision = solved(sizes.daemons(agent.cpu("8")).pod(web));
    expect(messages(decision)["p-0"]).toMatch(
      /^no instance type has enough resources, .*resources={"cpu":"9","pods":"2"}$/,
    );
  });

  it("02:G-2 is the sum of all daemons", () => {
    expect(requestsPerNewNode(solved(sizes.daemons(agent, agent.memory("1Gi")).pod(web)))).toEqual([
      { cpu: "3", memory: "1Gi", pods: "3" },
    ]);
  });

  it("02:A-3 counts a daemon's init containers as a pod's", () => {
    const [requests] = requestsPerNewNode(
      solved(
        problem()
          .daemons(daemon().cpu("100m").initContainer({ cpu: "2" }))
          .pod(web),
      ),
    );
    expect(requests).toEqual({ cpu: "3", pods: "2" });
  });

  it.each([
    ["nothing in particular", agent, nodePool(), true],
    ["a taint it does not tolerate", agent, nodePool().taint("x:NoSchedule"), false],
    ["a taint it tolerates", agent.tolerates({ operator: "Exists" }), nodePool().taint("x:NoSchedule"), true],
    ["a soft taint", agent, nodePool().taint("x:PreferNoSchedule"), true],
    ["a taint shed at start", agent, nodePool().startupTaint("x:NoSchedule"), true],
    ["a label nobody has", agent.on("team", "red"), nodePool(), false],
    ["a label the pool has", agent.on("team", "red"), nodePool().label("team", "red"), true],
    ["another value of it", agent.on("team", "blue"), nodePool().label("team", "red"), false],
    ["that a label be absent or another", agent.needs(["team", "NotIn", "red"]), nodePool(), true],
    ["a zone the pool may use", agent.on("zone", "b"), nodePool(), true],
    ["a zone the pool may not use", agent.on("zone", "b"), nodePool().zones("a"), false],
    ["a zone nobody has", agent.on("zone", "z9"), nodePool(), false],
    ["registered nodes", agent.on("karpenter.sh/registered", "true"), nodePool(), true],
    ["initialized nodes", agent.needs(["karpenter.sh/initialized", "In", "true"]), nodePool(), true],
    ["one of two terms", agent.needs(["zone", "In", "z9"]).needs(["zone", "In", "a"]), nodePool(), true],
    ["none of two terms", agent.needs(["zone", "In", "z9"]).needs(["zone", "In", "z8"]), nodePool(), false],
    ["a preference that cannot be met", agent.prefers(1, ["zone", "In", "z9"]), nodePool(), true],
    ["company that is not there", agent.near("zone", { app: "nobody" }), nodePool(), true],
    ["to be spread", agent.spread("rack"), nodePool(), true],
  ])("02:G-1 a daemon and %s", (_, one, pool, expected) => {
    expect(counts(one, pool, web.tolerates({ operator: "Exists" }))).toBe(expected);
  });

  it("02:G-1 types a daemon will not run on are not made smaller by it", () => {
    const types = problem().types(small, instanceType("gpu").cpu(4).price(9));
    const decision = solved(types.daemons(agent.on("type", "gpu")).pod(web.cpu("4")));
    expect(typesPerNewNode(decision)).toEqual([["small"]]);
    expect(requestsPerNewNode(decision)).toEqual([{ cpu: "4", pods: "1" }]);
  });

  it("02:G-1 a daemon that names what a type is", () => {
    const types = problem().types(small.label("arch", "amd64"), large.label("arch", "arm64"));
    const one = agent.cpu("2").on("arch", "arm64");
    expect(requestsPerNewNode(solved(types.daemons(one).pod(web.on("arch", "arm64"))))).toEqual([
      { cpu: "3", pods: "2" },
    ]);
    expect(requestsPerNewNode(solved(types.daemons(one).pod(web.on("arch", "amd64"))))).toEqual([
      { cpu: "1", pods: "1" },
    ]);
  });

  it("02 §11.8-8 02:G-3 is the least any type left has, and nothing where one has none", () => {
    const onLarge = agent.cpu("2").on("type", "large");
    expect(requestsPerNewNode(solved(sizes.daemons(onLarge).pod(web)))).toEqual([{ cpu: "1", pods: "1" }]);
    expect(requestsPerNewNode(solved(sizes.daemons(onLarge).pod(web.cpu("5"))))).toEqual([{ cpu: "7", pods: "2" }]);
    expect(requestsPerNewNode(solved(sizes.daemons(onLarge, agent).pod(web)))).toEqual([{ cpu: "2", pods: "2" }]);
  });

  it("02:G-1 the second term of a daemon counts for every type, not for the first alone (02 §12.2-5)", () => {
    const types = problem().types(small, large, instanceType("middle").cpu(6));
    const one = agent.cpu("4").needs(["type", "In", "small"]).needs(["type", "In", "large"]);
    expect(typesPerNewNode(solved(types.daemons(one).pod(web.cpu("5"))))).toEqual([["middle"]]);
  });
});

describe("ports of daemons", () => {
  const onPort = agent.hostPort(80);

  it("02:F-4 a port that the daemon on every node uses is refused", () => {
    const decision = solved(problem().daemons(onPort).pod(web.hostPort(80)));
    expect(codes(decision)).toEqual({ "p-0": "instance-types" });
    expect(messages(decision)["p-0"]).toMatch(
      /^no instance type met the scheduling requirements or had enough resources or had a required offering/,
    );
  });

  it("02:F-1 a port the daemon of some types has leaves the others", () => {
    const decision = solved(sizes.daemons(onPort.on("type", "small")).pod(web.hostPort(80)));
    expect(typesPerNewNode(decision)).toEqual([["large"]]);
  });

  it("02:F-1 a port of a daemon that will not come is free", () => {
    const decision = solved(
      problem().pools(nodePool().zones("a")).daemons(onPort.on("zone", "b")).pod(web.hostPort(80)),
    );
    expect(decision.refusals).toEqual([]);
  });

  it("02:F-1 other ports are free", () => {
    expect(solved(problem().daemons(onPort).pod(web.hostPort(81))).refusals).toEqual([]);
  });
});
