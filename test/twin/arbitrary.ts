import fc from "fast-check";
import type { Toleration } from "../../src/api/kubernetes/pod.ts";
import type { ShortRequirement } from "../builders/keys.ts";
import type { AffinityOptions, SpreadOptions } from "../builders/pod.ts";
import type { VolumeDraft } from "../builders/volumes.ts";
import type {
  NodeDraft,
  NodeTrait,
  PodDraft,
  PodTrait,
  PoolDraft,
  PoolTrait,
  ProblemDraft,
  TypeDraft,
  TypeTrait,
} from "./draft.ts";

/** Small worlds with every kind of constraint mixed: few names, so that they meet. */

const zone = fc.constantFrom("a", "b", "c");
const capacityType = fc.constantFrom("on-demand", "spot");
const team = fc.constantFrom("red", "blue");
const app = fc.constantFrom("x", "y");
const key = fc.constantFrom("zone", "host", "zone", "capacity-type", "team");
const instanceCpu = "karpenter.kwok.sh/instance-cpu";

/** Sometimes nobody has the value. */
const keyAndValues: fc.Arbitrary<readonly [string, readonly string[]]> = fc.oneof(
  fc.tuple(fc.constant("zone"), some(fc.constantFrom("a", "b", "c", "z9"))),
  fc.tuple(fc.constant("capacity-type"), some(fc.constantFrom("on-demand", "spot", "reserved"))),
  fc.tuple(fc.constant("team"), some(team)),
  fc.tuple(fc.constant("pool"), some(fc.constantFrom("pool-0", "pool-1"))),
  fc.tuple(fc.constant("type"), some(fc.constantFrom("t0", "t1", "t2"))),
  fc.tuple(fc.constant("arch"), some(fc.constantFrom("amd64", "arm64"))),
);

const requirement: fc.Arbitrary<ShortRequirement> = fc.oneof(
  { weight: 3, arbitrary: keyAndValues.map(([name, values]) => [name, "In", ...values] as const) },
  { weight: 1, arbitrary: keyAndValues.map(([name, values]) => [name, "NotIn", ...values] as const) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(keyAndValues, fc.constantFrom("Exists", "DoesNotExist"))
      .map(([[name], operator]) => [name, operator] as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom("Gt", "Lt", "Gte", "Lte"), fc.constantFrom("2", "4", "8"))
      .map(([operator, bound]) => [instanceCpu, operator, bound] as const),
  },
);

const toleration: fc.Arbitrary<Toleration> = fc.constantFrom<Toleration>(
  { operator: "Exists" },
  { key: "dedicated", operator: "Exists" },
  { key: "dedicated", operator: "Equal", value: "gpu", effect: "NoSchedule" },
  { operator: "Exists", effect: "PreferNoSchedule" },
  { key: "rank", operator: "Gt", value: "3" },
);

const taint = fc.constantFrom(
  "dedicated=gpu:NoSchedule",
  "dedicated=cpu:NoExecute",
  "slow:PreferNoSchedule",
  "rank=5:NoSchedule",
);

const selects = fc.constantFrom<Readonly<Record<string, string>>>({ app: "x" }, { app: "y" }, {});

const spreadOptions: fc.Arbitrary<SpreadOptions> = fc.record(
  {
    maxSkew: fc.constantFrom(1, 2),
    minDomains: fc.constantFrom(1, 2, 4),
    whenUnsatisfiable: fc.constantFrom("ScheduleAnyway" as const, "DoNotSchedule" as const),
    nodeAffinityPolicy: fc.constantFrom("Ignore" as const, "Honor" as const),
    nodeTaintsPolicy: fc.constantFrom("Honor" as const, "Ignore" as const),
    matchLabelKeys: fc.constant(["app"]),
    selects: fc.oneof(
      { weight: 4, arbitrary: selects },
      {
        weight: 1,
        arbitrary: fc.constantFrom("none" as const, {
          matchExpressions: [{ key: "app", operator: "NotIn", values: ["y"] }],
        }),
      },
    ),
  },
  { requiredKeys: [] },
);

const affinityOptions: fc.Arbitrary<AffinityOptions> = fc.record(
  {
    weight: fc.constantFrom(1, 10),
    namespaces: fc.constantFrom(["other"], ["default", "other"]),
    namespaceSelector: fc.constantFrom({}, { matchLabels: { kind: "other" } }),
  },
  { requiredKeys: [] },
);

const podTrait: fc.Arbitrary<PodTrait> = fc.oneof(
  keyAndValues.map(([name, [value = ""]]) => ["on", name, value] as const),
  some(requirement).map((wanted) => ["needs", wanted] as const),
  fc.tuple(fc.constantFrom(1, 5), some(requirement)).map(([weight, wanted]) => ["prefers", weight, wanted] as const),
  toleration.map((one) => ["tolerates", one] as const),
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.oneof({ weight: 9, arbitrary: key }, { weight: 1, arbitrary: fc.constant("rack") }), spreadOptions)
      .map(([name, options]) => ["spread", name, options] as const),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom("near" as const, "apart" as const), key, selects, affinityOptions)
      .map((parts) => parts as PodTrait),
  },
  fc
    .tuple(fc.constantFrom(80, 443), fc.constantFrom("", "10.0.0.1", "10.0.0.2"))
    .map(([port, ip]) => ["port", port, ip] as const),
  fc.constantFrom("v0", "v1", "v2", "v0", "v1", "v2", "v9").map((claim) => ["volume", claim] as const),
  fc.constant(["namespace", "other"] as const),
  fc.constantFrom("1", "0").map((amount) => ["request", "nvidia.com/gpu", amount] as const),
  fc.constantFrom("1Gi", "20Gi", "1500M").map((amount) => ["request", "memory", amount] as const),
  fc.constantFrom("n0", "n1").map((host) => ["needs", [["host", "In", host]]] as const),
  fc.constant(["claims-device"] as const),
);

const podDraft: fc.Arbitrary<PodDraft> = fc.record({
  count: fc.constantFrom(1, 1, 2, 3),
  cpu: fc.constantFrom("1", "500m", "2", "3500m"),
  app,
  traits: fc.array(podTrait, { maxLength: 3 }),
});

/** What already runs: only what others can feel of it. */
const runningPod: fc.Arbitrary<PodDraft> = fc.record({
  count: fc.constantFrom(1, 1, 2),
  cpu: fc.constantFrom("100m", "1"),
  app,
  traits: fc.array(
    fc.oneof(
      fc.tuple(fc.constant("apart" as const), key, selects, affinityOptions).map((parts) => parts as PodTrait),
      fc.constantFrom(80, 443).map((port) => ["port", port, ""] as const),
      fc.constantFrom("v0", "v1").map((claim) => ["volume", claim] as const),
      fc.constant(["namespace", "other"] as const),
      fc.constant(["terminating"] as const),
    ),
    { maxLength: 2 },
  ),
});

const daemonDraft: fc.Arbitrary<PodDraft> = fc.record({
  count: fc.constant(1),
  cpu: fc.constantFrom("100m", "1"),
  app,
  traits: fc.array(
    fc.oneof(
      keyAndValues.map(([name, [value = ""]]) => ["on", name, value] as const),
      some(requirement).map((wanted) => ["needs", wanted] as const),
      toleration.map((one) => ["tolerates", one] as const),
      fc.constantFrom(80, 443).map((port) => ["port", port, ""] as const),
      fc.constant(["request", "nvidia.com/gpu", "1"] as const),
    ),
    { maxLength: 2 },
  ),
});

const typeTrait: fc.Arbitrary<TypeTrait> = fc.oneof(
  some(zone).map((zones) => ["zones", ...new Set(zones)] as const),
  fc.tuple(zone, capacityType).map(([where, how]) => ["soldOutIn", where, how] as const),
  fc.tuple(zone, fc.constantFrom(0.1, 3)).map(([where, price]) => ["priceIn", where, price] as const),
  fc.tuple(zone, fc.constantFrom("1", "16")).map(([where, cpu]) => ["sizeIn", where, cpu] as const),
  fc
    .tuple(fc.constantFrom("cr-1", "cr-2"), zone, fc.constantFrom(1, 2, 0))
    .map(([id, where, capacity]) => ["reserved", id, where, capacity] as const),
  fc.constantFrom("amd64", "arm64").map((arch) => ["label", "arch", arch] as const),
  team.map((name) => ["label", "team", name] as const),
  fc.constant(["gpu", "1"] as const),
  fc.constantFrom("100m", "5").map((cpu) => ["overhead", cpu] as const),
);

const typeDraft: fc.Arbitrary<TypeDraft> = fc.record({
  cpu: fc.constantFrom(4, 2, 8),
  traits: fc.array(typeTrait, { maxLength: 3 }),
});

const poolTrait: fc.Arbitrary<PoolTrait> = fc.oneof(
  some(zone).map((zones) => ["zones", ...new Set(zones)] as const),
  requirement.filter(([name]) => name !== "pool").map((parts) => ["requires", ...parts] as unknown as PoolTrait),
  fc
    .tuple(fc.constantFrom("type", "zone", "arch", instanceCpu), fc.constantFrom(2, 3))
    .map(([name, least]) => ["minValues", name, least] as const),
  team.map((name) => ["label", "team", name] as const),
  taint.map((one) => ["taint", one] as const),
  fc.constantFrom(1, 10).map((weight) => ["weight", weight] as const),
  fc
    .constantFrom(["cpu", "4"], ["cpu", "12"], ["nodes", "1"], ["nodes", "2"], ["memory", "20Gi"])
    .map(([name = "", amount = ""]) => ["limit", name, amount] as const),
  some(fc.constantFrom(0, 1, 2)).map((which) => ["types", ...which] as const),
);

const poolDraft: fc.Arbitrary<PoolDraft> = fc.record({ traits: fc.array(poolTrait, { maxLength: 3 }) });

const nodeTrait: fc.Arbitrary<NodeTrait> = fc.oneof(
  capacityType.map((how) => ["label", "capacity-type", how] as const),
  team.map((name) => ["label", "team", name] as const),
  fc.constantFrom("t0", "t1").map((name) => ["label", "type", name] as const),
  fc.constantFrom("zone", "host").map((name) => ["without", name] as const),
  fc.constantFrom("pool-0", "pool-1").map((name) => ["pool", name] as const),
  taint.map((one) => ["taint", one] as const),
  { weight: 3, arbitrary: runningPod.map((one) => ["runs", one] as const) },
  daemonDraft.map((one) => ["runsDaemon", one] as const),
  fc.constantFrom(0, 1).map((limit) => ["volumeLimit", limit] as const),
  fc.constantFrom(["uninitialized"] as const, ["inFlight"] as const, ["leaving"] as const),
  zone.map((where) => ["unregistered", "zone", where] as const),
  team.map((name) => ["unregistered", "team", name] as const),
);

const nodeDraft: fc.Arbitrary<NodeDraft> = fc.record({
  zone: fc.constantFrom("a", "b", "z8"),
  cpu: fc.constantFrom("4", "1", "2500m"),
  traits: fc.array(nodeTrait, { maxLength: 4 }),
});

const volumeDrafts: fc.Arbitrary<readonly VolumeDraft[]> = fc.tuple(volume("v0"), volume("v1"), volume("v2"));

function volume(claim: string): fc.Arbitrary<VolumeDraft> {
  return fc.record({
    claim: fc.constant(claim),
    zones: fc.array(some(fc.constantFrom("a", "b", "c", "z9")), { maxLength: 2 }),
    isUnbound: fc.boolean(),
  });
}

const policy = fc.record(
  {
    preferences: fc.constant("Ignore" as const),
    minValues: fc.constant("BestEffort" as const),
    reservedCapacity: fc.constant(false),
    reservedMode: fc.constant("Fallback" as const),
    defaultConstraints: fc.constantFrom(
      [{ topologyKey: "topology.kubernetes.io/zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }],
      [{ topologyKey: "kubernetes.io/hostname", maxSkew: 1, whenUnsatisfiable: "ScheduleAnyway" }],
    ),
  },
  { requiredKeys: [] },
);

export const problemDraft: fc.Arbitrary<ProblemDraft> = fc.record({
  seed: fc.nat(1000),
  policy: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: policy }),
  types: fc.array(typeDraft, { minLength: 1, maxLength: 5 }),
  pools: fc.array(poolDraft, { minLength: 1, maxLength: 3 }),
  nodes: fc.array(nodeDraft, { maxLength: 4 }),
  pods: fc.array(podDraft, { minLength: 1, maxLength: 5 }),
  daemons: fc.array(daemonDraft, { maxLength: 2 }),
  volumes: volumeDrafts,
});

/** One or two. */
function some<T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(one, { minLength: 1, maxLength: 2 });
}
