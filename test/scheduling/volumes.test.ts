import { describe, expect, it } from "vitest";
import { labelPolicy } from "../../src/api/label-policy.ts";
import { podProblems } from "../../src/core/pod-validation.ts";
import { instanceType } from "../builders/instance-type.ts";
import { node } from "../builders/node.ts";
import { nodePool } from "../builders/node-pool.ts";
import { problem } from "../builders/problem.ts";
import { codes, messages, podsOnNodes, podsPerNewNode, podsPerZone, sizesOfNewNodes } from "../builders/readers.ts";
import { solved, web } from "./solved.ts";

const disk = "disk.example.com";

describe("volumes and zones", () => {
  it.each([
    ["a volume that is there", false],
    ["a class that will make one", true],
  ])("02:W-1 %s says where", (_, isUnbound) => {
    const of = (zones: readonly (readonly string[])[]) => problem().volumes({ claim: "v", zones, isUnbound });
    expect(podsPerZone(solved(of([["b"]]).pod(web.volume("v"))))).toEqual({ b: 1 });
    expect(podsPerZone(solved(of([["a", "c"]]).pod(web.volume("v"))))).toEqual({ "a|c": 1 });
    expect(podsPerZone(solved(of([["z9"], ["b"]]).pod(web.volume("v"))))).toEqual({ b: 1 });
    expect(podsPerZone(solved(of([]).pod(web.volume("v"))))).toEqual({ any: 1 });
  });

  it.each([
    ["a volume that is there", false],
    ["a class that will make one", true],
  ])("02:W-1 an ephemeral volume goes by its claim: %s", (_, isUnbound) => {
    const claims = problem().volumes({ claim: "p-0-scratch", zones: [["c"]], isUnbound });
    expect(podsPerZone(solved(claims.pod(web.ephemeralVolume("scratch"))))).toEqual({ c: 1 });
  });

  it("02:N-3a a zone the pod does not want", () => {
    const decision = solved(
      problem()
        .volumes({ claim: "v", zones: [["b"]] })
        .pod(web.volume("v").on("zone", "a")),
    );
    expect(messages(decision)).toEqual({
      "p-0":
        "incompatible volume requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [b] not in topology.kubernetes.io/zone In [a]",
    });
    expect(codes(decision)).toEqual({ "p-0": "volume-requirements" });
  });

  it("02:N-3a a zone the pool does not have", () => {
    const pools = problem()
      .pools(nodePool().zones("a"))
      .volumes({ claim: "v", zones: [["b"]] });
    expect(codes(solved(pools.pod(web.volume("v"))))).toEqual({ "p-0": "volume-requirements" });
  });

  it("02:W-2 several volumes: where all of them are", () => {
    const both = problem().volumes({ claim: "v", zones: [["a"], ["b"]] }, { claim: "w", zones: [["b"], ["c"]] });
    expect(podsPerZone(solved(both.pod(web.volume("v").volume("w"))))).toEqual({ b: 1 });
  });

  it("02:W-2 several volumes that are nowhere together", () => {
    const apart = problem().volumes({ claim: "v", zones: [["a"]] }, { claim: "w", zones: [["b"]] });
    const decision = solved(apart.pod(web.volume("v").volume("w"), web));
    expect(Object.keys(codes(decision))).toEqual(["p-0"]);
    expect(podsPerNewNode(decision)).toEqual([["p-1"]]);
  });

  it("02:W-1 a local volume's host is forgotten, its zone is not", () => {
    const terms = [
      [
        ["host", "In", "gone"],
        ["zone", "In", "c"],
      ],
    ] as const;
    const local = problem().volumes({ claim: "v", terms, isLocal: true });
    expect(podsPerZone(solved(local.pod(web.volume("v"))))).toEqual({ c: 1 });
    const only = problem().volumes({ claim: "v", terms: [[["host", "In", "gone"]]], isLocal: true });
    expect(podsPerZone(solved(only.pod(web.volume("v"))))).toEqual({ any: 1 });
  });

  it("02:W-1 another volume's host is kept to", () => {
    const bound = problem().volumes({ claim: "v", terms: [[["host", "In", "n1"]]] });
    expect(messages(solved(bound.pod(web.volume("v"))))).toEqual({
      "p-0":
        "incompatible volume requirements, key kubernetes.io/hostname, kubernetes.io/hostname In [n1] not in kubernetes.io/hostname In [hostname-placeholder-0001]",
    });
    expect(podsOnNodes(solved(bound.nodes(node("n1")).pod(web.volume("v"))))).toEqual({ n1: ["p-0"] });
  });

  it("02:T-3 a volume's zone outlives the terms a pod gives up", () => {
    const one = web.volume("v").needs(["zone", "In", "a"]).needs(["zone", "Exists"]);
    expect(
      podsPerZone(
        solved(
          problem()
            .volumes({ claim: "v", zones: [["b"]] })
            .pod(one),
        ),
      ),
    ).toEqual({ b: 1 });
  });

  it("02:W-1 an existing node must be in the zone", () => {
    const zoned = problem()
      .volumes({ claim: "v", zones: [["b"]] })
      .pod(web.volume("v"));
    expect(podsOnNodes(solved(zoned.nodes(node("n1").zone("a"), node("n2").zone("b"))))).toEqual({ n2: ["p-0"] });
  });

  it("02:N-3 alternatives are tried in turn, until one has an available offering", () => {
    const types = problem().types(instanceType("m").cpu(4).soldOutIn("a"));
    const decision = solved(types.volumes({ claim: "v", zones: [["a"], ["b"]] }).pod(web.volume("v")));
    expect(podsPerZone(decision)).toEqual({ b: 1 });
  });

  it("02:N-3 with topology: an alternative that breaks the skew is passed over", () => {
    const there = node("n1").zone("a").cpu("1").running(web);
    const claims = problem().volumes({ claim: "v", zones: [["a"], ["b"]] });
    const decision = solved(claims.nodes(there).pod(web.volume("v").spread("zone")));
    expect(podsPerZone(decision)).toEqual({ b: 1 });
  });

  it("02:W-4 what cannot be looked up keeps its pod back, and no other (02 §12.2-7)", () => {
    const decision = solved(problem().nodes(node("n1")).pod(web.volume("missing"), web));
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-1"] });
    expect(codes(decision)).toEqual({ "p-0": "volume-requirements" });
  });
});

describe("how many volumes a node attaches", () => {
  const claims = (count: number) =>
    problem().volumes(...Array.from({ length: count }, (_, at) => ({ claim: `v${at}`, driver: disk })));
  const roomy = node("n1").volumeLimit(disk, 2);

  it("02:E-2 02:S-57 no more than its driver says", () => {
    const decision = solved(claims(3).nodes(roomy).pod(web.volume("v0"), web.volume("v1"), web.volume("v2")));
    expect([podsOnNodes(decision), podsPerNewNode(decision)]).toEqual([{ n1: ["p-0", "p-1"] }, [["p-2"]]]);
  });

  it("02:S-57 those that are attached count", () => {
    const busy = roomy.running(web.volume("v0"), web.volume("v1"));
    const decision = solved(claims(3).nodes(busy).pod(web.volume("v2")));
    expect([podsOnNodes(decision), sizesOfNewNodes(decision)]).toEqual([{}, [1]]);
  });

  it("02:S-55 a claim that is shared counts once", () => {
    const decision = solved(claims(1).nodes(node("n1").volumeLimit(disk, 1)).pods(3, web.volume("v0")));
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0", "p-1", "p-2"] });
  });

  it("02:S-57 of other drivers, or of none, do not count", () => {
    const other = problem().volumes({ claim: "v0", driver: "nfs.example.com" }, { claim: "v1", isLocal: true });
    const decision = solved(other.nodes(node("n1").volumeLimit(disk, 0)).pod(web.volume("v0"), web.volume("v1")));
    expect(podsOnNodes(decision)).toEqual({ n1: ["p-0", "p-1"] });
  });

  it("02:S-57 are not known for planned nodes (02 §12.2-15)", () => {
    const decision = solved(claims(4).pod(...[0, 1, 2, 3].map((at) => web.volume(`v${at}`))));
    expect(sizesOfNewNodes(decision)).toEqual([4]);
  });
});

describe("volumes that are refused before scheduling", () => {
  const policy = labelPolicy("kwok");
  const claim = (spec: object, more: object = {}) => ({
    claims: new Map([["default/v", { metadata: { name: "v", namespace: "default", ...more }, spec }]]),
    volumes: new Map([
      ["disk", { metadata: { name: "disk" }, spec: {} }],
      ["dying", { metadata: { name: "dying", deletionTimestamp: "2026-01-01T00:00:00Z" }, spec: {} }],
    ]),
    classes: new Map([
      ["wait", { metadata: { name: "wait" }, provisioner: disk, volumeBindingMode: "WaitForFirstConsumer" }],
      ["now", { metadata: { name: "now" }, provisioner: disk, volumeBindingMode: "Immediate" }],
    ]),
  });
  const bound = { annotations: { "pv.kubernetes.io/bind-completed": "yes" } };

  it.each([
    ["bound, its class gone", claim({ volumeName: "disk", storageClassName: "gone" }, bound), true],
    ["bound, without a class", claim({ volumeName: "disk", storageClassName: "" }, bound), true],
    ["unbound, its class gone", claim({ storageClassName: "gone" }), false],
    ["unbound, without a class", claim({ storageClassName: "" }), false],
    ["unbound, made on first use", claim({ storageClassName: "wait" }), true],
    ["unbound, to be made at once", claim({ storageClassName: "now" }), false],
    ["its volume gone", claim({ volumeName: "gone" }, bound), false],
    ["its volume going", claim({ volumeName: "dying" }, bound), false],
    ["named but not bound", claim({ volumeName: "disk" }), false],
    ["itself going", claim({ storageClassName: "wait" }, { deletionTimestamp: "2026-01-01T00:00:00Z" }), false],
  ])("02:V-5 a claim %s", (_, volumes, isGood) => {
    const one = web.volume("v").build({ name: "p", uid: "u", at: 0 });
    expect(podProblems(one, { labelPolicy: policy, volumes }).length === 0).toBe(isGood);
  });
});
