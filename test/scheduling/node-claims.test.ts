import { describe, expect, it } from "vitest";
import { nodePoolHashVersion } from "../../src/api/hash/hash-drift.ts";
import type { NodePool } from "../../src/api/kinds/node-pool.ts";
import { labels } from "../../src/api/labels.ts";
import { nodeClaimOf } from "../../src/core/round/node-claims.ts";
import { solve } from "../../src/core/scheduling/solve.ts";
import { Random } from "../../src/util/random.ts";
import { instanceType } from "../builders/instance-type.ts";
import { type NodePoolBuilder, nodePool } from "../builders/node-pool.ts";
import { daemon } from "../builders/pod.ts";
import { problem } from "../builders/problem.ts";
import { large, small, web } from "./solved.ts";

interface ClaimSpec {
  readonly requirements: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
    readonly minValues?: number;
  }[];
  readonly [field: string]: unknown;
}

const untouched = { priced: new Set<never>(), enlarged: new Set<never>() };

/** The claim for one pod in one pool. */
function claimOf(pool: NodePoolBuilder, world = problem(), one = web) {
  const built = world.pools(pool).pod(one).build();
  const [node] = solve(built).newNodes;
  const found = built.pools[0]?.nodePool as NodePool;
  if (node === undefined) throw new Error("nothing was planned");
  const claim = nodeClaimOf(node, {
    pool: found,
    policy: built.labelPolicy,
    random: new Random(1),
    overlaid: untouched,
  });
  const spec = claim.spec as ClaimSpec;
  return {
    metadata: claim.metadata,
    spec,
    requires: (key: string) => spec.requirements.filter((each) => each.key === key),
  };
}

describe("a NodeClaim", () => {
  it("02:L-5 as a whole", () => {
    const pool = nodePool().taint("a=b:NoSchedule").startupTaint("boot:NoExecute").gracePeriod("5m");
    const { metadata, spec } = claimOf(pool, problem().types(small), web.tolerates({ operator: "Exists" }));
    expect(metadata.generateName).toBe("default-");
    expect(spec).toEqual({
      taints: [{ key: "a", value: "b", effect: "NoSchedule" }],
      startupTaints: [{ key: "boot", effect: "NoExecute" }],
      requirements: [
        { key: "karpenter.kwok.sh/kwoknodeclass", operator: "In", values: ["default"] },
        { key: labels.capacityType, operator: "In", values: ["on-demand", "spot"] },
        { key: labels.nodePool, operator: "In", values: ["default"] },
        { key: labels.instanceType, operator: "In", values: ["small"] },
      ],
      resources: { requests: { cpu: "1", pods: "1" } },
      nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
      expireAfter: "720h",
      terminationGracePeriod: "5m",
    });
  });

  it("02:L-5 the pool's grace period, or none", () => {
    expect(claimOf(nodePool().gracePeriod("30s")).spec["terminationGracePeriod"]).toBe("30s");
    expect(claimOf(nodePool()).spec).not.toHaveProperty("terminationGracePeriod");
  });

  it("02:T-2 02:L-3 02:L-6 annotations: the pool's, its hash, and whether demands were lowered", () => {
    const { metadata } = claimOf(nodePool().annotation("note", "x"));
    expect(metadata.annotations).toEqual({
      note: "x",
      "karpenter.sh/nodepool-hash": expect.stringMatching(/^\d+$/),
      "karpenter.sh/nodepool-hash-version": nodePoolHashVersion,
      "karpenter.sh/nodeclaim-min-values-relaxed": "false",
    });
    const other = claimOf(nodePool().annotation("note", "y")).metadata;
    expect(other.annotations?.["karpenter.sh/nodepool-hash"]).not.toBe(
      metadata.annotations?.["karpenter.sh/nodepool-hash"],
    );
  });

  it("02:Q-23 lowered demands are marked", () => {
    const lenient = problem().policy({ minValues: "BestEffort" });
    const { metadata, requires } = claimOf(nodePool().minValues("type", 3), lenient.types(small, large));
    expect(metadata.annotations?.["karpenter.sh/nodeclaim-min-values-relaxed"]).toBe("true");
    expect(requires(labels.instanceType)).toEqual([
      { key: labels.instanceType, operator: "In", values: ["large", "small"], minValues: 2 },
    ]);
  });

  it("02:L-4 labels: the pool's own, and values for those that are open", () => {
    const pool = nodePool()
      .label("team", "red")
      .label("example.kubernetes.io/x", "1")
      .label("kubernetes.io/y", "2")
      .requires("rank", "In", "7")
      .requires("free", "Exists")
      .requires("gone", "DoesNotExist");
    const { metadata } = claimOf(pool);
    expect(metadata.labels).toEqual({
      "karpenter.sh/nodepool": "default",
      "karpenter.kwok.sh/kwoknodeclass": "default",
      team: "red",
      "example.kubernetes.io/x": "1",
      "kubernetes.io/y": "2",
      rank: "7",
      free: expect.stringMatching(/^\d+$/),
    });
  });

  it("02:L-4 well-known labels are left to the provider", () => {
    const { metadata } = claimOf(nodePool().zones("a").requires("capacity-type", "In", "spot"));
    expect(Object.keys(metadata.labels ?? {}).sort()).toEqual([
      "karpenter.kwok.sh/kwoknodeclass",
      "karpenter.sh/nodepool",
    ]);
  });

  it("02:L-4 02 §12.1-4 the same seed draws the same values", () => {
    const pool = nodePool().requires("free", "Exists");
    expect(claimOf(pool).metadata.labels).toEqual(claimOf(pool).metadata.labels);
  });

  it("02:Q-50 02:L-5 what pools and pods require, and not what is for simulation only", () => {
    const { spec, requires } = claimOf(
      nodePool().zones("a", "b"),
      problem(),
      web.on("zone", "b").needs(["team", "NotIn", "x"]),
    );
    expect(requires(labels.zone)).toEqual([{ key: labels.zone, operator: "In", values: ["b"] }]);
    expect(requires("team")).toEqual([{ key: "team", operator: "NotIn", values: ["x"] }]);
    const keys = spec.requirements.map(({ key }) => key);
    expect(keys).not.toContain(labels.registered);
    expect(keys).not.toContain(labels.initialized);
    expect(keys).not.toContain(labels.hostname);
  });

  it("02 §11.8-4 02:R-35 bounds, with what is excluded between them", () => {
    const pool = nodePool().requires("rank", "Gt", "3").requires("rank", "Lt", "9").requires("rank", "NotIn", "5");
    expect(claimOf(pool).requires("rank")).toEqual([
      { key: "rank", operator: "Gte", values: ["4"] },
      { key: "rank", operator: "Lte", values: ["8"] },
      { key: "rank", operator: "NotIn", values: ["5"] },
    ]);
  });

  const kinds = problem().types(
    instanceType("amd").cpu(4).label("arch", "amd64").label("kubernetes.io/os", "linux"),
    instanceType("arm").cpu(8).label("arch", "arm64").label("kubernetes.io/os", "linux"),
    instanceType("win")
      .cpu(8)
      .label("arch", "amd64")
      .label("kubernetes.io/os", "windows")
      .resource("nvidia.com/gpu", "1"),
  );
  it.each([
    ["architecture", web.on("arch", "arm64"), ["arm"]],
    ["operating system", web.on("kubernetes.io/os", "windows"), ["win"]],
    ["size", web.cpu("6"), ["arm", "win"]],
    ["resource", web.request("nvidia.com/gpu", "1"), ["win"]],
  ])("02:L-2 names the types left by %s, sorted", (_, one, expected) => {
    expect(claimOf(nodePool(), kinds, one).requires(labels.instanceType)).toEqual([
      { key: labels.instanceType, operator: "In", values: expected },
    ]);
  });

  it("02:L-2 names the capacity types that can be had", () => {
    const sold = ["a", "b", "c"].reduce((type, zone) => type.soldOutIn(zone, "spot"), small);
    expect(claimOf(nodePool(), problem().types(sold)).requires(labels.capacityType)).toEqual([
      { key: labels.capacityType, operator: "In", values: ["on-demand"] },
    ]);
  });

  it("02:L-5 asks for its pods and, once, for its daemons", () => {
    const world = problem().daemons(daemon().cpu("500m").memory("1Gi")).pod(web, web);
    expect(claimOf(nodePool(), world).spec["resources"]).toEqual({
      requests: { cpu: "3500m", memory: "1Gi", pods: "4" },
    });
  });

  it("02:L-3 says when an overlay changed one of its types", () => {
    const built = problem().pod(web).build();
    const [node] = solve(built).newNodes;
    const [pool] = built.pools;
    if (node === undefined || pool === undefined) throw new Error("nothing was planned");
    const types = new Set(node.instanceTypes);
    const world = { pool: pool.nodePool, policy: built.labelPolicy, random: new Random(1) };
    const priced = nodeClaimOf(node, { ...world, overlaid: { priced: types, enlarged: new Set() } }).metadata
      .annotations;
    expect(priced).toMatchObject({ "karpenter.sh/price-overlay-applied": "true" });
    expect(priced).not.toHaveProperty("karpenter.sh/capacity-overlay-applied");
    const enlarged = nodeClaimOf(node, { ...world, overlaid: { priced: new Set(), enlarged: types } }).metadata
      .annotations;
    expect(enlarged).toMatchObject({ "karpenter.sh/capacity-overlay-applied": "true" });
  });
});
