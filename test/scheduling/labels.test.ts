import { describe, expect, it } from "vitest";
import { labelPolicy } from "../../src/api/label-policy.ts";
import { podProblems } from "../../src/core/pod-validation.ts";
import { emptyVolumeIndex } from "../../src/core/volumes.ts";
import { instanceType } from "../builders/instance-type.ts";
import type { ShortRequirement } from "../builders/keys.ts";
import { type NodePoolBuilder, nodePool } from "../builders/node-pool.ts";
import { type PodBuilder, pod } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { codes, messages, placesPerNewNode, podsPer, podsPerNewNode, typesPerNewNode } from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

type PoolOperator = Parameters<NodePoolBuilder["requires"]>[1];

function poolRequiring(pool: NodePoolBuilder, [key, operator, ...values]: ShortRequirement): NodePoolBuilder {
  return pool.requires(key, operator as PoolOperator, ...values);
}

/** Whether one pod finds a place in one pool. */
function isPlaced(pool: NodePoolBuilder, one: PodBuilder): boolean {
  return solved(problem().pools(pool).pod(one)).newNodes.length === 1;
}

describe("labels of one's own", () => {
  const red = nodePool().label("team", "red");

  it.each([
    ["a pod that asks for none takes a node that has some", red, web, true],
    ["a pool without the label does not make it up", nodePool(), web.on("team", "red"), false],
    ["a selector meets the pool's label", red, web.on("team", "red"), true],
    ["a selector meets another value of the label", red, web.on("team", "blue"), false],
    ["an affinity meets the pool's label", red, web.needs(["team", "In", "red", "blue"]), true],
    ["an affinity meets another value of the label", red, web.needs(["team", "In", "blue"]), false],
    [
      "a requirement of the pool counts like a label",
      nodePool().requires("team", "In", "red", "blue"),
      web.on("team", "blue"),
      true,
    ],
    ["and it can be missed", nodePool().requires("team", "In", "red", "blue"), web.on("team", "green"), false],
  ])("02:R-26 %s", (_, pool, one, expected) => expect(isPlaced(pool, one)).toBe(expected));

  it("02:R-28 names an unknown label, and which one may have been meant", () => {
    const decision = solved(problem().pod(web.on("team", "red"), web.on("instance-type", "m.large")));
    expect(messages(decision)).toEqual({
      "p-0": 'incompatible requirements, label "team" does not have known values',
      "p-1":
        'incompatible requirements, label "instance-type" does not have known values (typo of "node.kubernetes.io/instance-type"?)',
    });
  });
});

describe("operators", () => {
  const undefinedKey: readonly [ShortRequirement, boolean][] = [
    [["team", "In", "red"], false],
    [["team", "NotIn", "red"], true],
    [["team", "Exists"], false],
    [["team", "DoesNotExist"], true],
    [["team", "Gt", "1"], false],
    [["team", "Lt", "1"], false],
    [["team", "Gte", "1"], false],
    [["team", "Lte", "1"], false],
  ];
  it.each(undefinedKey)("02:R-26 on a key the pool does not have, %j", (wanted, expected) => {
    expect(isPlaced(nodePool(), web.needs(wanted))).toBe(expected);
  });

  const definedKey: readonly [ShortRequirement, boolean][] = [
    [["rank", "In", "5"], true],
    [["rank", "In", "6"], false],
    [["rank", "In", "5", "6"], true],
    [["rank", "NotIn", "5"], false],
    [["rank", "NotIn", "6"], true],
    [["rank", "Exists"], true],
    [["rank", "DoesNotExist"], false],
    [["rank", "Gt", "4"], true],
    [["rank", "Gt", "5"], false],
    [["rank", "Gte", "5"], true],
    [["rank", "Gte", "6"], false],
    [["rank", "Lt", "6"], true],
    [["rank", "Lt", "5"], false],
    [["rank", "Lte", "5"], true],
    [["rank", "Lte", "4"], false],
  ];
  it.each(definedKey)("02:R-27 on a label whose value is 5, %j", (wanted, expected) => {
    expect(isPlaced(nodePool().label("rank", "5"), web.needs(wanted))).toBe(expected);
  });

  const openKey: readonly [ShortRequirement, string][] = [
    [["team", "In", "red"], "In [red]"],
    [["team", "NotIn", "red"], "NotIn [red]"],
    [["team", "Exists"], "Exists"],
    [["team", "Gt", "4"], "Exists >=5"],
  ];
  it.each(openKey)("02:R-11 on a key the pool leaves open, %j narrows it", (wanted, expected) => {
    const decision = solved(problem().pools(nodePool().requires("team", "Exists")).pod(web.needs(wanted)));
    expect(decision.newNodes.map(({ requirements }) => String(requirements.get("team")))).toEqual([`team ${expected}`]);
  });

  it("02:R-25 a pod that must not have a label is refused by a pool that will give it one", () => {
    expect(isPlaced(nodePool().requires("team", "Exists"), web.needs(["team", "DoesNotExist"]))).toBe(false);
  });

  const together: readonly [ShortRequirement, ShortRequirement, number][] = [
    [["team", "In", "red"], ["team", "In", "red"], 1],
    [["team", "In", "red"], ["team", "In", "blue"], 2],
    [["team", "In", "red"], ["team", "NotIn", "red"], 2],
    [["team", "In", "red"], ["team", "NotIn", "blue"], 1],
    [["team", "In", "red"], ["team", "Exists"], 1],
    [["team", "NotIn", "red"], ["team", "NotIn", "blue"], 1],
    [["team", "Exists"], ["team", "Exists"], 1],
    [["team", "Exists"], ["team", "In", "red"], 1],
  ];
  it.each(together)("02:N-2 pods with %j and %j need %d node(s)", (first, second, nodes) => {
    const pools = problem().pools(nodePool().requires("team", "Exists"));
    expect(solved(pools.pod(web.cpu("2").needs(first), web.needs(second))).newNodes).toHaveLength(nodes);
  });

  it("02:R-11 Exists does not undo a value that is settled", () => {
    const pools = problem().pools(nodePool().requires("team", "Exists"));
    const decision = solved(pools.pod(web.cpu("2").on("team", "red"), web.needs(["team", "Exists"])));
    expect(podsPer("team", decision)).toEqual({ red: 2 });
  });
});

/** Four and eight cpus, as KWOK labels them. */
const cpu = "karpenter.kwok.sh/instance-cpu";
const sized = [4, 8].map((cpus) => instanceType(`of-${cpus}`).cpu(cpus).label(cpu, String(cpus)));

describe.each(["the pod", "the pool"])("well-known labels, asked for by %s", (who) => {
  const decide = (wanted: ShortRequirement) => {
    const types = problem().types(...sized);
    return who === "the pod"
      ? solved(types.pod(web.needs(wanted)))
      : solved(types.pools(poolRequiring(nodePool(), wanted)).pod(web));
  };
  const both = (zone: string) => [`${zone}/on-demand`, `${zone}/spot`];

  const places: readonly [ShortRequirement, readonly string[]][] = [
    [
      ["zone", "In", "a", "b"],
      [...both("a"), ...both("b")],
    ],
    [
      ["zone", "NotIn", "a"],
      [...both("b"), ...both("c")],
    ],
    [
      ["zone", "Exists"],
      [...both("a"), ...both("b"), ...both("c")],
    ],
    [
      ["capacity-type", "In", "spot"],
      ["a/spot", "b/spot", "c/spot"],
    ],
    [
      ["capacity-type", "NotIn", "spot"],
      ["a/on-demand", "b/on-demand", "c/on-demand"],
    ],
    [["failure-domain.beta.kubernetes.io/zone", "In", "c"], both("c")],
  ];
  it.each(places)("02:R-22 02:R-26 %j leaves the places that suit", (wanted, expected) => {
    expect(placesPerNewNode(decide(wanted))).toEqual([expected]);
  });

  const types: readonly [ShortRequirement, readonly string[]][] = [
    [["type", "In", "of-8"], ["of-8"]],
    [["type", "NotIn", "of-8"], ["of-4"]],
    [
      ["type", "Exists"],
      ["of-4", "of-8"],
    ],
    [[cpu, "Gt", "4"], ["of-8"]],
    [
      [cpu, "Gte", "4"],
      ["of-4", "of-8"],
    ],
    [[cpu, "Lt", "8"], ["of-4"]],
    [
      [cpu, "Lte", "8"],
      ["of-4", "of-8"],
    ],
    [[cpu, "In", "8"], ["of-8"]],
    [[cpu, "NotIn", "8"], ["of-4"]],
  ];
  it.each(types)("02:R-5 02:F-1 %j leaves the types that suit", (wanted, expected) => {
    expect(typesPerNewNode(decide(wanted))).toEqual([expected]);
  });

  const hopeless: readonly ShortRequirement[] = [
    ["zone", "In", "z9"],
    ["zone", "DoesNotExist"],
    ["type", "In", "unheard-of"],
    [cpu, "Gt", "8"],
    [cpu, "Lt", "4"],
  ];
  it.each(hopeless.map((wanted) => [wanted]))("02:F-1 what nobody offers is refused: %j", (wanted) => {
    expect(decide(wanted).newNodes).toEqual([]);
  });

  it.each<readonly [ShortRequirement]>([[["arch", "In", "amd64"]], [["arch", "DoesNotExist"]]])(
    "02:R-27 a well-known label the types say nothing of may be as asked: %j",
    (wanted) => expect(decide(wanted).newNodes).toHaveLength(1),
  );
});

describe("well-known labels no type speaks of", () => {
  it.each([
    "topology.kubernetes.io/region",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/windows-build",
    "karpenter.kwok.sh/instance-family",
  ])("02:R-23 %s may have the value that is asked for", (key) => {
    expect(isPlaced(nodePool(), web.on(key, "1"))).toBe(true);
  });
});

describe("the pool's say and the pod's", () => {
  it.each([
    ["inside", web.on("zone", "a"), ["a/on-demand", "a/spot"]],
    ["across", web.needs(["zone", "In", "b", "c"]), ["b/on-demand", "b/spot"]],
    ["combined", web.on("zone", "a").needs(["capacity-type", "In", "spot"]), ["a/spot"]],
    ["repeated", web.on("zone", "a").needs(["zone", "In", "a", "b"]), ["a/on-demand", "a/spot"]],
  ])("02:N-2 what the pod asks %s the pool's zones is what they share", (_, one, expected) => {
    expect(placesPerNewNode(solved(problem().pools(nodePool().zones("a", "b")).pod(one)))).toEqual([expected]);
  });

  it.each([
    ["outside the pool's zones", web.on("zone", "c")],
    ["against itself", web.on("zone", "a").needs(["zone", "In", "b"])],
    ["twice, at odds", web.needs(["zone", "In", "a"], ["zone", "NotIn", "a"])],
  ])("02:N-2 a pod that asks %s is refused", (_, one) => {
    const decision = solved(problem().pools(nodePool().zones("a", "b")).pod(one));
    expect(codes(decision)).toEqual({ "p-0": expect.stringMatching(/^(requirements|instance-types)$/) });
  });

  it.each([
    ["in keeping with the demand", "b", ["b/on-demand", "b/spot"]],
    ["at odds with the demand", "c", ["a/on-demand", "a/spot", "b/on-demand", "b/spot"]],
  ])("02:R-21 a preference %s", (_, zone, expected) => {
    const one = web.needs(["zone", "In", "a", "b"]).prefers(1, ["zone", "In", zone]);
    expect(placesPerNewNode(solved(problem().pod(one)))).toEqual([expected]);
  });
});

describe("labels a pod may not ask for", () => {
  const problemsOf = (one: PodBuilder) =>
    podProblems(one.build({ name: "p", uid: "u", at: 0 }), {
      labelPolicy: labelPolicy("kwok"),
      volumes: emptyVolumeIndex,
    });

  it.each([
    ["the host's name", "kubernetes.io/hostname", false],
    ["Karpenter's own domain", "karpenter.sh/anything", false],
    ["a domain below it", "sub.karpenter.sh/anything", false],
    ["the provider's domain", "karpenter.kwok.sh/anything", false],
    ["a domain below that", "sub.karpenter.kwok.sh/anything", false],
    ["Karpenter's well-known labels", "karpenter.sh/capacity-type", true],
    ["the provider's well-known labels", "karpenter.kwok.sh/instance-cpu", true],
    ["Kubernetes' domain", "kubernetes.io/anything", true],
    ["a domain below that", "node.kubernetes.io/anything", true],
    ["a domain of one's own", "example.com/anything", true],
  ])("02:V-4 %s: %s", (_, key, isAllowed) => {
    const value = key === "karpenter.sh/capacity-type" ? "spot" : "4";
    expect(problemsOf(pod().on(key, value)).length === 0).toBe(isAllowed);
    expect(problemsOf(pod().needs([key, "In", value])).length === 0).toBe(isAllowed);
  });
});

describe("pools that offer nothing", () => {
  const text = "nodepool requirements filtered out all available instance types";

  it.each([
    ["a zone nobody has", nodePool().zones("z9")],
    ["requirements at odds", nodePool().requires("zone", "In", "a").requires("zone", "In", "b")],
    ["a type nobody has", nodePool().requires("type", "In", "unheard-of")],
  ])("02:T-6 %s: every pod is told", (_, pool) => {
    const decision = solved(problem().pools(pool).pods(2, web));
    expect(messages(decision)).toEqual({ "p-0": text, "p-1": text });
    expect(decision.emptyPools).toEqual([{ pool: "default", becauseOfMinValues: false }]);
  });

  it("02:T-6 what is unavailable everywhere is not there", () => {
    const gone = instanceType("gone").soldOutIn("a").soldOutIn("b").soldOutIn("c");
    const decision = solved(problem().types(gone).pod(web));
    expect(codes(decision)).toEqual({ "p-0": "no-templates" });
  });

  it("02:T-6 a pool that offers nothing does not stand in another's way", () => {
    const decision = solved(problem().pools(nodePool("empty").weight(9).zones("z9"), nodePool("full")).pod(web));
    expect(podsPerNewNode(decision)).toEqual([["p-0"]]);
    expect(decision.emptyPools).toEqual([{ pool: "empty", becauseOfMinValues: false }]);
  });
});
