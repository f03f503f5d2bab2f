import { describe, expect, it } from "vitest";
import type { SelectorOwner } from "../api/kubernetes/cluster-objects.ts";
import type { LabelSelector, Pod, TopologySpreadConstraint } from "../api/kubernetes/pod.ts";
import { formatPath } from "../api/problem.ts";
import { readSchedulerConfig, selectorOwnerIndex, withDefaultConstraints } from "./default-constraints.ts";

const zone: TopologySpreadConstraint = {
  maxSkew: 1,
  topologyKey: "topology.kubernetes.io/zone",
  whenUnsatisfiable: "ScheduleAnyway",
};

describe("readSchedulerConfig", () => {
  const config = (...constraints: readonly unknown[]) => ({
    podTopologySpread: { defaultConstraints: constraints },
  });
  const at = (field = "") => `podTopologySpread.defaultConstraints[0]${field}`;

  it("02:X-50 reads constraints with everything they may say", () => {
    const host = { ...zone, topologyKey: "kubernetes.io/hostname", minDomains: 2, nodeAffinityPolicy: "Honor" };
    const constraints = [zone, { ...zone, whenUnsatisfiable: "DoNotSchedule" }, { ...host, nodeTaintsPolicy: "Honor" }];
    expect(readSchedulerConfig(config(...constraints))).toEqual({ kind: "read", constraints });
  });

  it.each([undefined, null, {}, { podTopologySpread: null }, { podTopologySpread: { defaultConstraints: [] } }])(
    "02:X-52 %j means no constraints",
    (nothing) => expect(readSchedulerConfig(nothing)).toEqual({ kind: "read", constraints: [] }),
  );

  const wrong: readonly [title: string, config: unknown, expected: readonly string[]][] = [
    ["no object", "maxSkew: 1", ["type "]],
    ["an unknown section", { nodeResourcesFit: {} }, ["unknown-field nodeResourcesFit"]],
    ["an unknown field", { podTopologySpread: { constraints: [] } }, ["unknown-field podTopologySpread.constraints"]],
    ["a section that is none", { podTopologySpread: [] }, ["type podTopologySpread"]],
    [
      "a list that is none",
      { podTopologySpread: { defaultConstraints: {} } },
      ["type podTopologySpread.defaultConstraints"],
    ],
    ["a constraint that is none", config("zone"), [`type ${at()}`]],
    ["an unknown field of a constraint", config({ ...zone, maxskew: 1 }), [`unknown-field ${at(".maxskew")}`]],
    ["no skew", config({ ...zone, maxSkew: undefined }), [`required ${at(".maxSkew")}`]],
    ["a skew of zero", config({ ...zone, maxSkew: 0 }), [`too-small ${at(".maxSkew")}`]],
    ["half a skew", config({ ...zone, maxSkew: 0.5 }), [`type ${at(".maxSkew")}`]],
    ["a key that is no name", config({ ...zone, topologyKey: "a/b/c" }), [`invalid-key ${at(".topologyKey")}`]],
    ["an empty key", config({ ...zone, topologyKey: "" }), [`invalid-key ${at(".topologyKey")}`]],
    ["an unknown reaction", config({ ...zone, whenUnsatisfiable: "Panic" }), [`enum ${at(".whenUnsatisfiable")}`]],
    ["a selector", config({ ...zone, labelSelector: {} }), [`invalid-value ${at(".labelSelector")}`]],
    ["label keys", config({ ...zone, matchLabelKeys: ["a"] }), [`invalid-value ${at(".matchLabelKeys")}`]],
    ["domains that are no number", config({ ...zone, minDomains: "2" }), [`type ${at(".minDomains")}`]],
    ["a policy that is no text", config({ ...zone, nodeTaintsPolicy: 1 }), [`type ${at(".nodeTaintsPolicy")}`]],
    [
      "a pair that was there before",
      config(zone, { ...zone, maxSkew: 5 }),
      ["duplicate-item podTopologySpread.defaultConstraints[1]"],
    ],
    [
      "everything that is wrong, not only the first",
      config({ maxSkew: -1, whenUnsatisfiable: "Panic" }),
      [`too-small ${at(".maxSkew")}`, `required ${at(".topologyKey")}`, `enum ${at(".whenUnsatisfiable")}`],
    ],
  ];
  it.each(wrong)("02:X-50 refuses %s", (_, written, expected) => {
    const read = readSchedulerConfig(written);
    const problems = read.kind === "refused" ? read.problems : [];
    expect(problems.map(({ code, path }) => `${code} ${formatPath(path)}`)).toEqual(expected);
  });
});

describe("withDefaultConstraints", () => {
  const labels = { app: "web", tier: "front", rev: "7" };
  const pod = (owner?: { apiVersion: string; kind: string; controller?: boolean }): Pod => ({
    metadata: {
      name: "p",
      namespace: "shop",
      labels,
      ...(owner && { ownerReferences: [{ name: "w", uid: "u", controller: true, ...owner }] }),
    },
    spec: {},
  });
  const service = (selector: Record<string, string> | undefined, namespace = "shop"): SelectorOwner => ({
    kind: "Service",
    metadata: { name: "s", namespace },
    spec: { selector },
  });
  const workload = (kind: SelectorOwner["kind"], selector: NonNullable<SelectorOwner["spec"]>["selector"]) => ({
    kind,
    metadata: { name: "w", namespace: "shop" },
    spec: { selector },
  });
  const is = (key: string, value: string) => ({ key, operator: "In", values: [value] });
  const replicaSet = { apiVersion: "apps/v1", kind: "ReplicaSet" };
  const controller = { apiVersion: "v1", kind: "ReplicationController" };
  const rest = { matchExpressions: [{ key: "rev", operator: "Exists" }] };

  const cases: readonly [title: string, pod: Pod, owners: readonly SelectorOwner[], LabelSelector | undefined][] = [
    ["belongs to nothing", pod(), [], undefined],
    ["a Service that selects it", pod(), [service({ app: "web" })], { matchLabels: { app: "web" } }],
    [
      "all Services that select it",
      pod(),
      [service({ app: "web" }), service({ tier: "front" }), service({ tier: "back" })],
      { matchLabels: { app: "web", tier: "front" } },
    ],
    ["a Service that does not", pod(), [service({ app: "db" })], undefined],
    ["a Service without selector", pod(), [service(undefined)], undefined],
    ["a Service that selects everything", pod(), [service({})], undefined],
    ["a Service of another namespace", pod(), [service({ app: "web" }, "other")], undefined],
    [
      "a ReplicaSet, all it says and only that",
      pod(replicaSet),
      [workload("ReplicaSet", { matchLabels: { rev: "7", app: "web" }, ...rest })],
      { matchExpressions: [is("app", "web"), is("rev", "7"), ...rest.matchExpressions] },
    ],
    [
      "a StatefulSet",
      pod({ apiVersion: "apps/v1", kind: "StatefulSet" }),
      [workload("StatefulSet", { matchLabels: { app: "web" } })],
      { matchExpressions: [is("app", "web")] },
    ],
    [
      "a ReplicationController",
      pod(controller),
      [workload("ReplicationController", { app: "old" })],
      { matchLabels: { app: "old" } },
    ],
    [
      "a ReplicationController overwrites Services",
      pod(controller),
      [workload("ReplicationController", { app: "old" }), service({ app: "web", tier: "front" })],
      { matchLabels: { app: "old", tier: "front" } },
    ],
    [
      "a ReplicaSet adds to Services, even to contradict them",
      pod(replicaSet),
      [workload("ReplicaSet", { matchLabels: { app: "other" } }), service({ app: "web" })],
      { matchLabels: { app: "web" }, matchExpressions: [is("app", "other")] },
    ],
    ["a ReplicaSet with an empty selector", pod(replicaSet), [workload("ReplicaSet", {})], undefined],
    ["a ReplicaSet that is gone", pod(replicaSet), [], undefined],
    [
      "an owner that is no controller",
      pod({ ...replicaSet, controller: false }),
      [workload("ReplicaSet", { matchLabels: { app: "web" } })],
      undefined,
    ],
    [
      "a ReplicaSet of another group",
      pod({ apiVersion: "example.com/v1", kind: "ReplicaSet" }),
      [workload("ReplicaSet", { matchLabels: { app: "web" } })],
      undefined,
    ],
    ["an owner of another kind", pod({ apiVersion: "batch/v1", kind: "Job" }), [], undefined],
    [
      "an owner of another kind, and a Service",
      pod({ apiVersion: "batch/v1", kind: "Job" }),
      [service({ app: "web" })],
      { matchLabels: { app: "web" } },
    ],
  ];
  it.each(cases)("02:X-51 %s", (_, one, owners, labelSelector) => {
    const before = structuredClone(one);
    const constraints = [zone, { ...zone, whenUnsatisfiable: "DoNotSchedule" }];
    const injected = withDefaultConstraints(one, { constraints, owners: selectorOwnerIndex(owners) });
    expect(injected.spec.topologySpreadConstraints).toEqual(
      labelSelector && constraints.map((constraint) => ({ ...constraint, labelSelector })),
    );
    expect(one).toEqual(before);
    if (labelSelector === undefined) expect(injected).toBe(one);
  });

  it("02:X-51 a pod with a constraint of its own keeps to it", () => {
    const own = { ...pod(), spec: { topologySpreadConstraints: [zone] } };
    const owners = selectorOwnerIndex([service({ app: "web" })]);
    expect(withDefaultConstraints(own, { constraints: [zone], owners })).toBe(own);
    expect(withDefaultConstraints(pod(), { constraints: [], owners }).spec.topologySpreadConstraints).toBeUndefined();
  });
});
