import { describe, expect, it } from "vitest";
import type { RequirementItem } from "../kubernetes/pod.ts";
import { labelPolicy } from "../label-policy.ts";
import { awsLabels, coreWellKnownLabels, kwokLabels, labels } from "../labels.ts";
import { formatPath } from "../problem.ts";
import { isManagedPool, type ReviewedPool, reviewNodePool } from "./node-pool.ts";
import type { TaintItem } from "./taints.ts";

const aws = labelPolicy("aws");

interface Parts {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requirements?: readonly RequirementItem[];
  readonly taints?: readonly TaintItem[];
  readonly startupTaints?: readonly TaintItem[];
}

function pool({ name = "default", labels: poolLabels, requirements = [], taints, startupTaints }: Parts): ReviewedPool {
  return {
    metadata: { name },
    spec: { template: { metadata: { labels: poolLabels }, spec: { requirements, taints, startupTaints } } },
  };
}

const problems = (parts: Parts, policy = aws) =>
  reviewNodePool(pool(parts), policy).problems.map(({ code, path }) => `${code} ${formatPath(path)}`);
const requirement = (item: RequirementItem, policy = aws) => problems({ requirements: [item] }, policy);

describe("NodePool runtime validation", () => {
  it("01 §0.3 refuses durations and replicas beyond what can be calculated with", () => {
    const { metadata, spec } = pool({});
    const beyond = "99999999999h";
    const found = reviewNodePool(
      {
        metadata,
        spec: {
          replicas: 2 ** 60,
          template: { spec: { requirements: [], expireAfter: beyond, terminationGracePeriod: beyond } },
          disruption: { consolidateAfter: beyond, budgets: [{}, { duration: "1h" }, { duration: beyond }] },
        },
      },
      aws,
    );
    expect(found.problems.map(({ code, path }) => `${code} ${formatPath(path)}`)).toEqual([
      "too-large spec.template.spec.expireAfter",
      "too-large spec.template.spec.terminationGracePeriod",
      "too-large spec.disruption.consolidateAfter",
      "too-large spec.disruption.budgets[2].duration",
      "too-large spec.replicas",
    ]);
    const most = { replicas: 100_000_000, disruption: { consolidateAfter: "Never", budgets: [] } };
    const longest = { requirements: [], expireAfter: "2562047h", terminationGracePeriod: "0s" };
    expect(reviewNodePool({ metadata, spec: { ...spec, ...most, template: { spec: longest } } }, aws).problems).toEqual(
      [],
    );
  });

  it("01 §1.2.3 an ordinary pool has no problems", () => {
    expect(
      problems({
        labels: { team: "a", "kops.k8s.io/x": "y", "kubernetes.io/custom": "z" },
        requirements: [{ key: labels.capacityType, operator: "In", values: ["spot", "on-demand"] }],
        taints: [{ key: "a", effect: "NoSchedule" }],
      }),
    ).toEqual([]);
  });

  it("01 §1.2.3 all problems are collected, none hides another", () => {
    expect(
      problems({
        name: "n".repeat(64),
        labels: { [labels.nodePool]: "x", "a b": "c d" },
        taints: [{ key: "??", effect: "Sometimes" }],
        requirements: [
          { key: labels.nodePool, operator: "In", values: [] },
          { key: labels.hostname, operator: "Out" },
        ],
      }),
    ).toEqual([
      "invalid-value metadata.name",
      "restricted-label spec.template.metadata.labels[karpenter.sh/nodepool]",
      "invalid-key spec.template.metadata.labels[a b]",
      "invalid-value spec.template.metadata.labels[a b]",
      "invalid-key spec.template.spec.taints[0].key",
      "invalid-value spec.template.spec.taints[0].effect",
      "value-count spec.template.spec.requirements[0].values",
      "unknown-operator spec.template.spec.requirements[1].operator",
      "restricted-label spec.template.spec.requirements[1].key",
      "restricted-label spec.template.spec.requirements[0].key",
    ]);
  });

  it("01 §3.1.1 a pool's name must fit a label", () => {
    expect(problems({ name: "n".repeat(63) })).toEqual([]);
    expect(problems({ name: "n".repeat(64) })).toEqual(["invalid-value metadata.name"]);
  });

  it.each([
    ["spaces in a key", { "a b": "x" }, ["invalid-key"]],
    ["an over-long prefix", { [`${"a".repeat(254)}/x`]: "x" }, ["invalid-key"]],
    ["an over-long name", { [`a/${"x".repeat(64)}`]: "x" }, ["invalid-key"]],
    ["a bad value", { a: "!" }, ["invalid-value"]],
    ["a label of ours", { "karpenter.sh/custom": "x" }, ["restricted-label"]],
    ["a subdomain of ours", { "x.karpenter.sh/custom": "x" }, ["restricted-label"]],
    ["a provider's label", { "karpenter.k8s.aws/custom": "x" }, ["restricted-label"]],
    ["the hostname", { [labels.hostname]: "x" }, ["restricted-label"]],
    ["the node class label", { [awsLabels.nodeClass]: "x" }, ["restricted-label"]],
    ["the pool label", { [labels.nodePool]: "x" }, ["restricted-label"]],
    ["another domain that ends alike", { "notkarpenter.sh/x": "x" }, []],
    ["a key that is like a domain of ours", { "foo.karpenter.sh": "x" }, []],
    [
      "kubernetes.io and k8s.io",
      { "kubernetes.io/a": "x", "x.kubernetes.io/a": "x", "k8s.io/a": "x", "x.k8s.io/a": "x" },
      [],
    ],
    ["another provider's domain", { [kwokLabels.instanceCpu]: "x" }, []],
  ] as const)("01 §1.2.3, traps 5 and 7: labels with %s", (_what, poolLabels, codes) => {
    expect(reviewNodePool(pool({ labels: poolLabels }), aws).problems.map(({ code }) => code)).toEqual(codes);
  });

  it.each(
    [...coreWellKnownLabels.filter((key) => key !== labels.nodePool), ...aws.wellKnown].filter(
      (key) => key !== labels.nodePool,
    ),
  )("01 §8.3 well-known %s may be required and set", (key) => {
    expect(requirement({ key, operator: "Exists" })).toEqual([]);
    expect(problems({ labels: { [key]: "x" } })).toEqual([]);
  });

  it("01 §1.2.3 says which notice deserves a log line", () => {
    const { problems: none, notices } = reviewNodePool(
      pool({ requirements: [{ key: labels.capacityType, operator: "In", values: ["spot", "cheap"] }] }),
      aws,
    );
    expect(none).toEqual([]);
    expect(notices).toMatchObject([
      { code: "unknown-value", path: ["spec", "template", "spec", "requirements", 0, "values"] },
    ]);
    expect(notices[0]?.message).toContain("cheap");
  });
});

describe("requirements", () => {
  const key = "example.com/x";
  it.each([
    ["In", ["a"], []],
    ["NotIn", [], []],
    ["NotIn", ["a"], []],
    ["Exists", ["ignored"], []],
    ["DoesNotExist", ["ignored"], []],
    ["In", [], ["value-count"]],
    ["Gt", ["1"], []],
    ["Lt", ["0"], []],
    ["Gte", ["9223372036854775807"], []],
    ["Lte", ["007"], []],
    ["Gt", [], ["value-count"]],
    ["Lt", ["1", "2"], ["value-count"]],
    ["Gte", ["a"], ["value-count"]],
    ["Lte", ["-1"], ["invalid-value", "value-count"]],
    ["Gt", ["1.5"], ["value-count"]],
    ["Gt", ["9223372036854775808"], ["value-count"]],
    ["Unknown", [], ["unknown-operator"]],
    ["in", ["a"], ["unknown-operator"]],
    ["In", ["a", "b c"], ["invalid-value"]],
    ["In", ["x".repeat(64)], ["invalid-value"]],
  ] as const)("01 §4.2 %s %j", (operator, values, codes) => {
    expect(
      reviewNodePool(pool({ requirements: [{ key, operator, values }] }), aws).problems.map(({ code }) => code),
    ).toEqual(codes);
  });

  it("01 §4.2 values may be left out where none is needed", () => {
    expect(requirement({ key, operator: "Exists" })).toEqual([]);
    expect(requirement({ key, operator: "In" })).toEqual(["value-count spec.template.spec.requirements[0].values"]);
  });

  it("01 §7.9 Out was never an operator", () => {
    expect(reviewNodePool(pool({ requirements: [{ key, operator: "Out" }] }), aws).problems[0]?.message).toContain(
      "did you mean NotIn",
    );
  });

  it("01:NP15 minValues needs that many listed values, duplicates counted", () => {
    expect(requirement({ key, operator: "In", values: ["a", "b"], minValues: 3 })).toHaveLength(1);
    expect(requirement({ key, operator: "In", values: ["a", "a", "b"], minValues: 3 })).toEqual([]);
    expect(requirement({ key, operator: "Exists", minValues: 30 })).toEqual([]);
  });

  it.each([
    ["restricted domain", { key: "karpenter.sh/x", operator: "Exists" }, "restricted-label"],
    ["hostname", { key: labels.hostname, operator: "Exists" }, "restricted-label"],
    ["the pool's own label", { key: labels.nodePool, operator: "Exists" }, "restricted-label"],
    ["the class label", { key: awsLabels.nodeClass, operator: "Exists" }, "restricted-label"],
    ["an over-long key", { key: `a/${"x".repeat(64)}`, operator: "Exists" }, "invalid-key"],
  ] as const)("01 §4.2 the key is refused: %s", (_what, item, code) => {
    expect(requirement(item)).toEqual([`${code} spec.template.spec.requirements[0].key`]);
  });

  it("01 §3.1.2 old spellings are read as the new ones", () => {
    expect(requirement({ key: "failure-domain.beta.kubernetes.io/zone", operator: "In", values: ["a"] })).toEqual([]);
    expect(requirement({ key: "topology.ebs.csi.aws.com/zone", operator: "In", values: ["a"] })).toEqual([]);
  });

  it("01 §3.1.3 another provider's domain is nobody's here", () => {
    expect(
      requirement({ key: awsLabels.instanceTenancy, operator: "In", values: ["odd"] }, labelPolicy("kwok")),
    ).toEqual([]);
  });

  describe.each([
    [labels.capacityType, ["spot", "on-demand", "reserved"]],
    [awsLabels.instanceTenancy, ["default", "dedicated"]],
  ])("01 §8.3 %s", (known, values) => {
    const review = (item: Omit<RequirementItem, "key">) =>
      reviewNodePool(pool({ requirements: [{ key: known, ...item }] }), aws);

    it("accepts the known values silently", () => {
      expect(review({ operator: "In", values })).toEqual({ problems: [], notices: [] });
    });

    it("fails when all are unknown", () => {
      const { problems: found, notices } = review({ operator: "In", values: ["xspot", "constructor"] });
      expect(found).toMatchObject([{ code: "unknown-value", expected: expect.stringContaining(values[0] ?? "") }]);
      expect(notices).toEqual([]);
    });

    it("notes the unknown ones among known", () => {
      const { problems: found, notices } = review({ operator: "In", values: [...values, "xspot"] });
      expect(found).toEqual([]);
      expect(notices).toHaveLength(1);
    });

    it("fails when too few known ones are left for minValues", () => {
      const { problems: found, notices } = review({
        operator: "In",
        values: [values[0] ?? "", "x", "y"],
        minValues: 2,
      });
      expect(found).toMatchObject([{ code: "unknown-value" }]);
      expect(notices).toHaveLength(1);
    });

    it("asks about In only", () => {
      expect(review({ operator: "NotIn", values: ["xspot"] }).problems).toEqual([]);
    });
  });
});

describe("taints", () => {
  it.each([
    [{ key: "a", value: "b", effect: "NoSchedule" }, []],
    [{ key: "a.com/b", effect: "NoExecute" }, []],
    [{ key: "a", effect: "PreferNoSchedule" }, []],
    [{ key: "a" }, []],
    [{ key: "" }, ["invalid-key"]],
    [{ key: "test.com.com}" }, ["invalid-key"]],
    [{ key: `${"a".repeat(254)}/x` }, ["invalid-key"]],
    [{ key: "a", value: "b b" }, ["invalid-value"]],
    [{ key: "a", value: "a.com/b" }, []],
    [{ key: "a", effect: "no" }, ["invalid-value"]],
  ] as const)("01 §1.2.2 %j", (taint, codes) => {
    expect(reviewNodePool(pool({ taints: [taint] }), aws).problems.map(({ code }) => code)).toEqual(codes);
  });

  it("01 §1.2.2 a pair of key and effect is allowed once over both lists", () => {
    const taint = { key: "a", effect: "NoSchedule" };
    expect(problems({ taints: [taint, { ...taint, effect: "NoExecute" }] })).toEqual([]);
    expect(problems({ taints: [taint, { ...taint, value: "other" }] })).toEqual([
      "duplicate-taint spec.template.spec.taints[1]",
    ]);
    expect(problems({ taints: [taint], startupTaints: [taint] })).toEqual([
      "duplicate-taint spec.template.spec.startupTaints[0]",
    ]);
  });
});

describe("isManagedPool", () => {
  const ref = (group: string, kind: string) => ({ spec: { template: { spec: { nodeClassRef: { group, kind } } } } });
  const served = [{ group: "karpenter.k8s.aws", kind: "EC2NodeClass" }];

  it("01 §1.2.3 leaves pools of other providers alone", () => {
    expect(isManagedPool(ref("karpenter.k8s.aws", "EC2NodeClass"), served)).toBe(true);
    expect(isManagedPool(ref("karpenter.kwok.sh", "KWOKNodeClass"), served)).toBe(false);
    expect(isManagedPool(ref("karpenter.k8s.aws", "Other"), served)).toBe(false);
    expect(isManagedPool(ref("other", "EC2NodeClass"), served)).toBe(false);
  });
});
