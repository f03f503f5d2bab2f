import { describe, expect, it } from "vitest";
import { relaxPodSpec } from "../../src/core/scheduling/relaxation.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
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
} from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

describe("dropping preferences, one at a time", () => {
  it("02:Q-40 in the order: terms, company, distance, places, spread, soft taints", () => {
    const withPreferences = pod()
      .label("app", "web")
      .needs(["zone", "In", "z1"])
      .needs(["zone", "In", "z2"])
      .near("zone", { app: "a" }, { weight: 1 })
      .near("zone", { app: "b" }, { weight: 9 })
      .apart("zone", { app: "c" }, { weight: 1 })
      .prefers(1, ["zone", "In", "z3"])
      .prefers(9, ["zone", "In", "z4"])
      .spread("zone", { whenUnsatisfiable: "ScheduleAnyway" })
      .spread("host")
      .build({ name: "p", uid: "u", at: 0 });
    const steps: string[] = [];
    let spec: typeof withPreferences.spec | undefined = withPreferences.spec;
    while (spec !== undefined) {
      steps.push(preferences(spec));
      spec = relaxPodSpec(spec, { toleratePreferNoSchedule: true });
    }
    expect(steps).toEqual([
      "terms z1,z2; near a,b; apart c; zones z3,z4; spread zone,hostname; tolerates ",
      "terms z2; near a,b; apart c; zones z3,z4; spread zone,hostname; tolerates ",
      "terms z2; near a; apart c; zones z3,z4; spread zone,hostname; tolerates ",
      "terms z2; near ; apart c; zones z3,z4; spread zone,hostname; tolerates ",
      "terms z2; near ; apart ; zones z3,z4; spread zone,hostname; tolerates ",
      "terms z2; near ; apart ; zones z3; spread zone,hostname; tolerates ",
      "terms z2; near ; apart ; zones ; spread zone,hostname; tolerates ",
      "terms z2; near ; apart ; zones ; spread hostname; tolerates ",
      "terms z2; near ; apart ; zones ; spread hostname; tolerates PreferNoSchedule",
    ]);
  });

  it("02:Q-40 of several soft spreads the first goes, and the last takes its place", () => {
    const soft = { whenUnsatisfiable: "ScheduleAnyway" } as const;
    const { spec } = pod()
      .spread("zone", soft)
      .spread("host")
      .spread("arch", soft)
      .build({ name: "p", uid: "u", at: 0 });
    const next = relaxPodSpec(spec, { toleratePreferNoSchedule: false });
    expect(next?.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey)).toEqual([
      "kubernetes.io/arch",
      "kubernetes.io/hostname",
    ]);
  });

  it("02:Q-40 nothing is left to give up", () => {
    const { spec } = web.needs(["zone", "In", "z9"]).spread("zone").near("zone").build({ name: "p", uid: "u", at: 0 });
    expect(relaxPodSpec(spec, { toleratePreferNoSchedule: false })).toBeUndefined();
  });

  it("02 §12.1-5 of equal weights the first written goes first", () => {
    const one = web.prefers(5, ["zone", "In", "a"]).prefers(5, ["zone", "In", "b"]);
    // Wanted at once: only the heaviest binds, and of equals that is the first.
    expect(podsPerZone(solved(problem().pod(one)))).toEqual({ a: 1 });
    expect(podsPerZone(solved(problem().pools(nodePool().zones("b", "c")).pod(one)))).toEqual({ b: 1 });
  });

  it("02:Q-5 on a copy: the pods of the decision are those of the problem", () => {
    const built = problem()
      .pod(web.prefers(1, ["zone", "In", "z9"]).needs(["zone", "In", "z8"]).needs(["zone", "In", "b"]))
      .build();
    const [placed] = solve(built).newNodes;
    expect(placed?.pods[0]).toBe(built.pods[0]);
  });

  it("02:Q-40 the last required term is kept", () => {
    const decision = solved(problem().pod(web.needs(["zone", "In", "z8"]).needs(["zone", "In", "z9"])));
    expect(decision.newNodes).toEqual([]);
    expect(messages(decision)["p-0"]).toContain("topology.kubernetes.io/zone In [z9]");
  });

  it("02:Q-40 any of several required terms will do, in turn", () => {
    const terms = ["z9", "z8", "b", "a"].reduce((one, zone) => one.needs(["zone", "In", zone]), web);
    expect(podsPerZone(solved(problem().pod(terms)))).toEqual({ b: 1 });
  });

  it("02:R-21 the selector holds with every term", () => {
    const one = web.on("capacity-type", "spot").needs(["zone", "In", "z9"]).needs(["zone", "In", "b"]);
    expect(podsPer("capacity-type", solved(problem().pod(one)))).toEqual({ spot: 1 });
  });

  it("02:Q-40 all preferences may go", () => {
    const one = web.prefers(1, ["zone", "In", "z8"]).prefers(5, ["type", "In", "none"]).prefers(9, ["team", "Exists"]);
    expect(podsPerNewNode(solved(problem().pod(one)))).toEqual([["p-0"]]);
  });

  it("02:Q-40 the heavier goes first, and the lighter is kept where it can be", () => {
    const one = web.prefers(100, ["zone", "In", "z9"]).prefers(50, ["zone", "In", "b"]).prefers(1, ["zone", "In", "c"]);
    expect(podsPerZone(solved(problem().pod(one)))).toEqual({ b: 1 });
  });

  it("02:R-21 only the heaviest preference binds at a time", () => {
    const one = web.prefers(2, ["zone", "In", "a"]).prefers(1, ["capacity-type", "In", "spot"]);
    const decision = solved(problem().pod(one));
    expect([podsPerZone(decision), podsPer("capacity-type", decision)]).toEqual([{ a: 1 }, { any: 1 }]);
  });

  it("02:Q-41 a preference is worth a new node", () => {
    const decision = solved(
      problem()
        .nodes(node("n1").zone("a"))
        .pod(web.prefers(1, ["zone", "In", "b"])),
    );
    expect([podsOnNodes(decision), podsPerZone(decision)]).toEqual([{}, { b: 1 }]);
  });

  it("02:Q-3 each attempt starts with all preferences again", () => {
    // The first attempt cannot place it near its leader even without preferences; the second can, with them.
    const one = pod().cpu("2").near("zone", { app: "web" }).prefers(1, ["capacity-type", "In", "spot"]);
    const decision = solved(problem().pod(one, web.on("zone", "b")));
    expect([podsPerZone(decision), podsPer("capacity-type", decision)]).toEqual([{ b: 2 }, { spot: 2 }]);
  });

  it("02:X-20 a preferred place does not narrow spread or company", () => {
    const near = web.near("zone").prefers(1, ["zone", "In", "z9"]);
    expect(sizesOfNewNodes(solved(problem().pods(4, near)))).toEqual([4]);
  });
});

describe("soft taints", () => {
  const soft = nodePool("soft").taint("slow:PreferNoSchedule");

  it("02:Q-42 are kept to while there is any other way", () => {
    const pools = problem().pools(soft.weight(100), nodePool("plain"));
    expect(poolsOfNewNodes(solved(pools.pod(web)))).toEqual(["plain"]);
  });

  it("02:Q-40 are tolerated after all other preferences are dropped", () => {
    const pools = problem().pools(soft, nodePool("plain").zones("a"));
    const one = web.prefers(1, ["zone", "In", "b"]);
    // Giving up zone b leads to the plain pool; tolerating the taint would have kept it.
    expect(poolsOfNewNodes(solved(pools.pod(one)))).toEqual(["plain"]);
  });

  it("02:T-7 02:Q-42 on nodes that exist are tolerated only where some pool has such a taint", () => {
    const there = node("n1").taint("slow:PreferNoSchedule");
    const full = nodePool().limit("cpu", "0");
    expect(codes(solved(problem().pools(full).nodes(there).pod(web)))).toEqual({ "p-0": "limits" });
    const pools = problem().pools(full, soft.limit("cpu", "0"));
    expect(podsOnNodes(solved(pools.nodes(there).pod(web)))).toEqual({ n1: ["p-0"] });
  });

  it("02:Q-42 hard taints are not tolerated with them", () => {
    const both = soft.taint("hard:NoSchedule");
    expect(codes(solved(problem().pools(both).pod(web)))).toEqual({ "p-0": "taint" });
  });
});

/** A spec's preferences in a line. */
function preferences({
  affinity,
  topologySpreadConstraints = [],
  tolerations = [],
}: ReturnType<ReturnType<typeof pod>["build"]>["spec"]): string {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const values = ({ matchExpressions = [] }: (typeof terms)[number]) =>
    matchExpressions.map((one) => one.values).join();
  const apps = (one: typeof podAffinity) =>
    one?.preferredDuringSchedulingIgnoredDuringExecution?.map(
      ({ podAffinityTerm: { labelSelector } }) => labelSelector?.matchLabels?.["app"],
    );
  const zones = nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.map(({ preference }) =>
    values(preference),
  );
  const keys = topologySpreadConstraints.map(({ topologyKey }) => topologyKey.split("/")[1]);
  return `terms ${terms.map(values)}; near ${apps(podAffinity)}; apart ${apps(podAntiAffinity)}; zones ${zones}; spread ${keys}; tolerates ${tolerations.map(({ effect }) => effect)}`;
}
