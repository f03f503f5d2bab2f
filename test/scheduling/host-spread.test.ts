import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { codes, podsOnNodes, podsPerNewNode, podsPerZone, sizesOfNewNodes } from "../builders/readers.ts";
import { large, small, solved, web } from "./solved.ts";

const huge = problem().types(instanceType("huge").cpu(64));

describe("spreading over hosts", () => {
  it("02:X-26 one each", () => {
    expect(sizesOfNewNodes(solved(huge.pods(4, web.spread("host"))))).toEqual([1, 1, 1, 1]);
  });

  it("02:X-26 as many as the skew says, however large the node", () => {
    expect(sizesOfNewNodes(solved(huge.pods(5, web.spread("host", { maxSkew: 2 }))))).toEqual([2, 2, 1]);
  });

  it("02:X-26 several apps share nodes, each spread by itself", () => {
    const db = pod().label("app", "db").cpu("1").spread("host");
    const decision = solved(huge.pods(2, web.spread("host")).pods(2, db));
    expect(podsPerNewNode(decision)).toEqual([
      ["p-0", "p-2"],
      ["p-1", "p-3"],
    ]);
  });

  it("02:X-26 on nodes of each architecture", () => {
    const types = [small.label("arch", "amd64"), large.label("arch", "arm64")];
    const decision = solved(
      problem()
        .types(...types)
        .pods(2, web.on("arch", "amd64").spread("host"))
        .pods(2, web.on("arch", "arm64").spread("host")),
    );
    expect(sizesOfNewNodes(decision)).toEqual([1, 1, 1, 1]);
  });

  it("02:X-26 hosts that are there count what they run, and an unknown host counts none", () => {
    const nodes = [node("n1").running(web), node("n2")];
    const decision = solved(
      problem()
        .nodes(...nodes)
        .pods(3, web.spread("host")),
    );
    expect([podsOnNodes(decision), sizesOfNewNodes(decision)]).toEqual([{ n2: ["p-0"] }, [1, 1]]);
  });

  it("02:X-26 a host without the label goes by its name", () => {
    const decision = solved(problem().nodes(node("n1").without("host").running(web)).pod(web.spread("host")));
    expect([podsOnNodes(decision), sizesOfNewNodes(decision)]).toEqual([{}, [1]]);
  });

  it("02:X-26 pods that are not selected do not count, and are not held back", () => {
    const guest = web.spread("host", { selects: { app: "db" } });
    expect(sizesOfNewNodes(solved(huge.pods(3, guest)))).toEqual([3]);
  });

  it("02:X-20 over hosts and zones", () => {
    const both = web.spread("host").spread("zone");
    const decision = solved(huge.pods(6, both));
    expect([sizesOfNewNodes(decision), podsPerZone(decision)]).toEqual([[1, 1, 1, 1, 1, 1], { a: 2, b: 2, c: 2 }]);
    const loose = web.spread("host", { maxSkew: 3 }).spread("zone");
    expect(podsPerZone(solved(huge.pods(6, loose)))).toEqual({ a: 2, b: 2, c: 2 });
  });

  it("02:X-20 over hosts and zones, within what the pool allows", () => {
    const pools = huge.pools(nodePool().zones("a", "b"));
    const decision = solved(pools.pods(4, web.spread("host").spread("zone")));
    expect([sizesOfNewNodes(decision), podsPerZone(decision)]).toEqual([[1, 1, 1, 1], { a: 2, b: 2 }]);
  });

  it("02:X-26 ScheduleAnyway plans new nodes while it can, and gives way when it cannot", () => {
    const soft = web.spread("host", { whenUnsatisfiable: "ScheduleAnyway" });
    expect(sizesOfNewNodes(solved(huge.pods(3, soft)))).toEqual([1, 1, 1]);
    const limited = huge.pools(nodePool().limit("nodes", "2"));
    expect(sizesOfNewNodes(solved(limited.pods(3, soft)))).toEqual([2, 1]);
    expect(codes(solved(limited.pods(3, web.spread("host"))))).toEqual({ "p-2": "node-limit" });
  });

  it("02:X-2 a spread over hosts that starts from nothing has hosts as soon as nodes are planned", () => {
    const decision = solved(problem().pods(2, web.spread("host", { minDomains: 5 })));
    expect(sizesOfNewNodes(decision)).toEqual([1, 1]);
  });
});
