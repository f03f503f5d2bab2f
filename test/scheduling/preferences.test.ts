import { describe, expect, it } from "vitest";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { problem } from "../builders/problem.ts";
import { podsOnNodes, podsPerZone, poolsOfNewNodes, sizesOfNewNodes } from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

const huge = problem().types(instanceType("huge").cpu(64));
const soft = { whenUnsatisfiable: "ScheduleAnyway" } as const;
const one = { weight: 1 };

/** The same pods where preferences are respected and where they are ignored. */
function both(world: ReturnType<typeof problem>) {
  return [solved(world), solved(world.policy({ preferences: "Ignore" }))] as const;
}

describe("with preferences ignored", () => {
  it("02:Q-41 a preferred zone is not looked for", () => {
    const [respected, ignored] = both(
      problem()
        .nodes(node("n1").zone("a"))
        .pod(web.prefers(1, ["zone", "In", "b"])),
    );
    expect([podsPerZone(respected), podsOnNodes(ignored)]).toEqual([{ b: 1 }, { n1: ["p-0"] }]);
  });

  it.each(["zone", "host"])("02:X-6 02:Q-41 a soft spread over %s does not spread", (key) => {
    const [respected, ignored] = both(huge.pods(3, web.spread(key, soft)));
    expect([sizesOfNewNodes(respected), sizesOfNewNodes(ignored)]).toEqual([[1, 1, 1], [3]]);
  });

  it("02:Q-41 distance that is only preferred is not kept on hosts", () => {
    const [respected, ignored] = both(huge.pods(3, web.apart("host", { app: "web" }, one)));
    expect([sizesOfNewNodes(respected), sizesOfNewNodes(ignored)]).toEqual([[1, 1, 1], [3]]);
  });

  it("02:Q-41 distance that is only preferred is not kept in zones", () => {
    const there = node("n1").zone("a").running(web.label("app", "db"));
    const [respected, ignored] = both(
      problem()
        .nodes(there)
        .pod(web.apart("zone", { app: "db" }, one)),
    );
    expect([podsPerZone(respected), podsOnNodes(ignored)]).toEqual([{ "b|c": 1 }, { n1: ["p-0"] }]);
  });

  it.each(["zone", "host"])("02:Q-41 company that is only preferred is not sought by %s", (key) => {
    const nodes = [node("n1").zone("a"), node("n2").zone("b").running(web.label("app", "db"))];
    const [respected, ignored] = both(
      problem()
        .nodes(...nodes)
        .pod(web.near(key, { app: "db" }, one)),
    );
    expect([podsOnNodes(respected), podsOnNodes(ignored)]).toEqual([{ n2: ["p-0"] }, { n1: ["p-0"] }]);
  });

  it("02:Q-41 required terms are still given up in turn, and soft taints tolerated at last", () => {
    const terms = web.needs(["zone", "In", "z9"]).needs(["zone", "In", "b"]);
    for (const decision of both(problem().pod(terms))) expect(podsPerZone(decision)).toEqual({ b: 1 });
    const pools = problem().pools(nodePool("soft").taint("slow:PreferNoSchedule"));
    for (const decision of both(pools.pod(web))) expect(poolsOfNewNodes(decision)).toEqual(["soft"]);
  });

  it("02:Q-41 what is demanded is kept", () => {
    for (const decision of both(huge.pods(2, web.spread("host").apart("host")))) {
      expect(sizesOfNewNodes(decision)).toEqual([1, 1]);
    }
  });
});
