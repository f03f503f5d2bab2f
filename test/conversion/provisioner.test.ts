import { describe, expect, it } from "vitest";
import { valueAt } from "../../src/api/conversion/conversion-draft.ts";
import { toV1 } from "../../src/api/conversion/to-v1.ts";
import { converted, object, only, problems, stored, warnings } from "./fixtures.ts";

function alpha(spec: object = {}, { version = "v1alpha5", metadata = {} } = {}) {
  return {
    apiVersion: `karpenter.sh/${version}`,
    kind: "Provisioner",
    metadata: { name: "default", ...metadata },
    spec: { providerRef: { name: "default" }, ...spec },
  };
}

const at = (value: unknown, dotted: string) => valueAt(value, dotted.split("."));
const requirements = (value: unknown) => at(value, "spec.template.spec.requirements");
const implied = [
  { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
  { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
  { key: "karpenter.sh/capacity-type", operator: "In", values: ["on-demand"] },
  { key: "karpenter.k8s.aws/instance-category", operator: "In", values: ["c", "m", "r"] },
  { key: "karpenter.k8s.aws/instance-generation", operator: "Gt", values: ["2"] },
];

describe("01 §7.6 v1alpha5 Provisioner", () => {
  it.each<[string, object, string, unknown]>([
    ["annotations", { annotations: { a: "b" } }, "spec.template.metadata.annotations", { a: "b" }],
    ["labels", { labels: { a: "b" } }, "spec.template.metadata.labels", { a: "b" }],
    [
      "taints",
      { taints: [{ key: "a", effect: "NoSchedule" }] },
      "spec.template.spec.taints",
      [{ key: "a", effect: "NoSchedule" }],
    ],
    [
      "startupTaints",
      { startupTaints: [{ key: "a", effect: "NoSchedule" }] },
      "spec.template.spec.startupTaints",
      [{ key: "a", effect: "NoSchedule" }],
    ],
    ["weight", { weight: 7 }, "spec.weight", 7],
    ["limits", { limits: { resources: { cpu: 10, memory: "1Gi" } } }, "spec.limits", { cpu: 10, memory: "1Gi" }],
    ["expiry", { ttlSecondsUntilExpired: 2592000 }, "spec.template.spec.expireAfter", "2592000s"],
    ["expiry of zero", { ttlSecondsUntilExpired: 0 }, "spec.template.spec.expireAfter", "0s"],
    [
      "consolidation",
      { consolidation: { enabled: true } },
      "spec.disruption",
      { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "0s" },
    ],
    [
      "emptiness",
      { ttlSecondsAfterEmpty: 30 },
      "spec.disruption",
      { consolidationPolicy: "WhenEmpty", consolidateAfter: "30s" },
    ],
    [
      "consolidation off",
      { consolidation: { enabled: false }, ttlSecondsAfterEmpty: 5 },
      "spec.disruption",
      { consolidationPolicy: "WhenEmpty", consolidateAfter: "5s" },
    ],
    [
      "providerRef",
      {},
      "spec.template.spec.nodeClassRef",
      { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
    ],
  ])("%s", (_name, spec, path, expected) => {
    const conversion = toV1([alpha(spec)], { mode: "strict" });
    expect(conversion.problems).toEqual([]);
    const pool = only(conversion.objects).object;
    expect(at(pool, path)).toEqual(expected);
    expect(conversion.warnings).toEqual([]);
    expect(() => stored(pool)).not.toThrow();
  });

  it("trap 20 without TTLs and consolidation nothing ever goes", () => {
    const pool = converted(alpha());
    expect(at(pool, "spec.template.spec.expireAfter")).toBe("Never");
    expect(at(pool, "spec.disruption")).toEqual({ consolidateAfter: "Never" });
  });

  it("writes out the requirements that were implied", () => {
    expect(requirements(converted(alpha()))).toEqual(implied);
    expect(requirements(converted(alpha(), { ignoreDefaults: true }))).toEqual([]);
  });

  it.each([
    "node.kubernetes.io/instance-type",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-category",
    "karpenter.k8s.aws/instance-generation",
  ])("implies no category once %s is constrained", (key) => {
    const own = { key, operator: "Exists" };
    expect(requirements(converted(alpha({ requirements: [own] })))).toEqual([own, ...implied.slice(0, 3)]);
  });

  it("implies nothing about a key that is said, as requirement or as label", () => {
    const own = { key: "kubernetes.io/arch", operator: "In", values: ["arm64"] };
    const pool = converted(alpha({ requirements: [own], labels: { "karpenter.sh/capacity-type": "spot" } }));
    expect(requirements(pool)).toEqual([own, implied[0], implied[3], implied[4]]);
  });

  it.each([
    [
      "ttlSecondsAfterEmpty with consolidation",
      { ttlSecondsAfterEmpty: 30, consolidation: { enabled: true } },
      "not-convertible spec.ttlSecondsAfterEmpty",
    ],
    ["a negative expiry", { ttlSecondsUntilExpired: -1 }, "invalid-value spec.ttlSecondsUntilExpired"],
    ["a negative wait", { ttlSecondsAfterEmpty: -30 }, "invalid-value spec.ttlSecondsAfterEmpty"],
    ["a wait that is no number", { ttlSecondsAfterEmpty: "30s" }, "invalid-value spec.ttlSecondsAfterEmpty"],
    ["provider with providerRef", { provider: { instanceProfile: "a" } }, "not-convertible spec.provider"],
    ["a spec that is text", { limits: "many" }, "type spec.limits"],
  ])("refuses %s", (_name, spec, problem) => {
    expect(problems(toV1([alpha(spec)], { mode: "lenient" }))).toContain(problem);
  });

  it("without any provider assumes the default class, or refuses when strict", () => {
    const source = { ...alpha(), spec: {} };
    expect(at(converted(source), "spec.template.spec.nodeClassRef.name")).toBe("default");
    expect(warnings(toV1([source], { mode: "lenient" }))).toEqual(["node-class-assumed spec.providerRef"]);
    expect(problems(toV1([source], { mode: "strict" }))).toEqual(["required spec.providerRef"]);
  });

  it("reads a limit beside resources, with a warning", () => {
    const source = alpha({ limits: { cpu: 10 } });
    expect(at(converted(source), "spec.limits")).toEqual({ cpu: 10 });
    expect(warnings(toV1([source], { mode: "lenient" }))).toEqual(["field-moved spec.limits.cpu"]);
    expect(problems(toV1([source], { mode: "strict" }))).toEqual(["unknown-field spec.limits.cpu"]);
  });

  it("drops a field no version had, with a warning", () => {
    expect(warnings(toV1([alpha({ foo: 1 })], { mode: "lenient" }))).toEqual(["field-dropped spec.foo"]);
    expect(problems(toV1([alpha({ foo: 1 })], { mode: "strict" }))).toEqual(["unknown-field spec.foo"]);
  });

  it("says old keys in today's words", () => {
    const source = alpha({
      annotations: { "karpenter.sh/do-not-consolidate": "true", "karpenter.sh/emptiness-timestamp": "x" },
      requirements: [
        { key: "karpenter.sh/provisioner-name", operator: "In", values: ["default"] },
        { key: "karpenter.k8s.aws/instance-pods", operator: "Gt", values: ["10"] },
        { key: "topology.kubernetes.io/zone", operator: "Exists" },
      ],
    });
    const pool = converted(source, { ignoreDefaults: true });
    expect(at(pool, "spec.template.metadata.annotations")).toEqual({ "karpenter.sh/do-not-disrupt": "true" });
    expect(requirements(pool)).toEqual([{ key: "topology.kubernetes.io/zone", operator: "Exists" }]);
    expect(warnings(toV1([source], { mode: "lenient" }))).toEqual([
      "name-changed spec.annotations[karpenter.sh/do-not-consolidate]",
      "field-dropped spec.annotations[karpenter.sh/emptiness-timestamp]",
      "field-dropped spec.requirements[0]",
      "field-dropped spec.requirements[1]",
    ]);
  });

  it("takes over the name, labels and annotations, not what the API server wrote", () => {
    const metadata = {
      uid: "u",
      resourceVersion: "1",
      generation: 3,
      creationTimestamp: "2023-01-01T00:00:00Z",
      labels: { team: "a" },
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": "{}", note: "b" },
    };
    expect(converted(alpha({}, { metadata }))["metadata"]).toEqual({
      name: "default",
      labels: { team: "a" },
      annotations: { note: "b" },
    });
  });

  it("turns an inline provider into a class of the same name", () => {
    const { providerRef: _ref, ...spec } = alpha({
      provider: {
        apiVersion: "extensions.karpenter.sh/v1alpha1",
        kind: "AWS",
        instanceProfile: "nodes",
        amiFamily: "Bottlerocket",
        subnetSelector: { a: "b" },
        securityGroupSelector: { "aws-ids": "sg-1,sg-2" },
        metadataOptions: { httpPutResponseHopLimit: 1 },
      },
    }).spec as Record<string, unknown>;
    const conversion = toV1([{ ...alpha(), spec }], { mode: "strict" });
    expect(warnings(conversion)).toEqual(["node-class-generated spec.provider"]);
    const [pool, nodeClass] = conversion.objects.map((one) => one.object);
    expect(at(pool, "spec.template.spec.nodeClassRef")).toEqual({
      group: "karpenter.k8s.aws",
      kind: "EC2NodeClass",
      name: "default",
    });
    expect(nodeClass).toEqual({
      apiVersion: "karpenter.k8s.aws/v1",
      kind: "EC2NodeClass",
      metadata: { name: "default" },
      spec: {
        instanceProfile: "nodes",
        amiSelectorTerms: [{ alias: "bottlerocket@latest" }],
        subnetSelectorTerms: [{ tags: { a: "b" } }],
        securityGroupSelectorTerms: [{ id: "sg-1" }, { id: "sg-2" }],
        metadataOptions: { httpPutResponseHopLimit: 1 },
      },
    });
    expect(() => [stored(pool), stored(nodeClass)]).not.toThrow();
  });

  it("does not let a generated class take the name of another", () => {
    const provider = { instanceProfile: "a", subnetSelector: { a: "b" }, securityGroupSelector: { a: "b" } };
    const template = {
      apiVersion: "karpenter.k8s.aws/v1alpha1",
      kind: "AWSNodeTemplate",
      metadata: { name: "default" },
      spec: provider,
    };
    const conversion = toV1([template, { ...alpha(), spec: { provider } }], { mode: "lenient" });
    expect(problems(conversion)).toEqual(["not-convertible spec.provider"]);
  });
});

describe("01 §7.7 the oldest Provisioners", () => {
  it.each(["v1alpha3", "v1alpha4"])("%s lists become requirements", (version) => {
    const source = object(`
apiVersion: karpenter.sh/${version}
kind: Provisioner
metadata: {name: default}
spec:
  cluster: {name: a, endpoint: b, caBundle: c}
  instanceTypes: [m5.large, c5.large]
  zones: [us-west-2a]
  architectures: [arm64]
  operatingSystems: []
  ttlSecondsAfterEmpty: 30
  ttlSecondsUntilExpired: 60
  provider: {instanceProfile: p, capacityTypes: [spot], subnetSelector: {a: b}, securityGroupSelector: {a: b}}
`);
    const conversion = toV1([source], { mode: "lenient" });
    const pool = conversion.objects[0]?.object;
    expect(requirements(pool)).toEqual([
      { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large", "c5.large"] },
      { key: "topology.kubernetes.io/zone", operator: "In", values: ["us-west-2a"] },
      { key: "kubernetes.io/arch", operator: "In", values: ["arm64"] },
      { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] },
    ]);
    expect(at(pool, "spec.template.spec.expireAfter")).toBe("60s");
    expect(warnings(conversion)).toContain("selectors-intersect spec.instanceTypes");
    expect(warnings(conversion)).toContain("field-dropped spec.cluster");
    for (const { object: result } of conversion.objects) expect(() => stored(result)).not.toThrow();
  });

  it("reads the singular forms of v1alpha3", () => {
    const pool = converted(alpha({ architecture: "arm64", operatingSystem: "linux" }, { version: "v1alpha3" }));
    expect(requirements(pool)).toEqual([
      { key: "kubernetes.io/arch", operator: "In", values: ["arm64"] },
      { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
    ]);
  });

  it("spec.instanceTypes is read in v1alpha5 too, as the oldest documents write it", () => {
    expect(requirements(converted(alpha({ instanceTypes: ["m5.large"] }), { ignoreDefaults: true }))).toEqual([
      { key: "node.kubernetes.io/instance-type", operator: "In", values: ["m5.large"] },
    ]);
  });
});
