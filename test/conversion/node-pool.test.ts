import { describe, expect, it } from "vitest";
import { valueAt } from "../../src/api/conversion/conversion-draft.ts";
import { toV1 } from "../../src/api/conversion/to-v1.ts";
import { toV1beta1 } from "../../src/api/conversion/to-v1beta1.ts";
import { isRecord } from "../../src/api/object.ts";
import { converted, only, problems, stored, warnings } from "./fixtures.ts";

const nodeClassRef = { apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass", name: "default" };

interface Parts {
  readonly metadata?: object;
  readonly template?: object;
  readonly spec?: object;
  readonly status?: object;
  readonly node?: object;
}

function beta({ metadata, template, spec, status, node }: Parts = {}) {
  return {
    apiVersion: "karpenter.sh/v1beta1",
    kind: "NodePool",
    metadata: { name: "default", ...metadata },
    spec: { template: { ...template, spec: { nodeClassRef, requirements: [], ...node } }, ...spec },
    ...(status && { status }),
  };
}

const at = (object: unknown, dotted: string) => valueAt(object, dotted.split("."));

describe("01 §7.3 what stays in its place", () => {
  const requirements = [{ key: "karpenter.k8s.aws/instance-family", operator: "Exists", minValues: 3 }];
  it.each<[string, Parts]>([
    ["metadata.labels", { metadata: { labels: { team: "a" } } }],
    ["metadata.annotations", { metadata: { annotations: { "karpenter.sh/nodepool-hash": "1" } } }],
    [
      "metadata.ownerReferences",
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "X", name: "y", uid: "z" }] } },
    ],
    ["spec.weight", { spec: { weight: 10 } }],
    ["spec.limits", { spec: { limits: { cpu: 1000, memory: "1000Gi" } } }],
    ["spec.template.metadata.labels", { template: { metadata: { labels: { a: "b" } } } }],
    ["spec.template.metadata.annotations", { template: { metadata: { annotations: { a: "b" } } } }],
    ["spec.template.spec.taints", { node: { taints: [{ key: "a", effect: "NoSchedule" }] } }],
    ["spec.template.spec.startupTaints", { node: { startupTaints: [{ key: "a", effect: "NoExecute" }] } }],
    ["spec.template.spec.requirements", { node: { requirements } }],
    [
      "spec.disruption.budgets",
      { spec: { disruption: { budgets: [{ nodes: "20%", schedule: "@daily", duration: "1h" }] } } },
    ],
    ["status.resources", { status: { resources: { cpu: "3" } } }],
    ["status.conditions", { status: { conditions: [] } }],
  ])("copies %s", (path, parts) => {
    const source = beta(parts);
    expect(at(converted(source), path)).toEqual(at(source, path));
    expect(at(source, path)).toBeDefined();
  });
});

describe("01 §7.3 expireAfter moves into the template", () => {
  it.each([["30s"], ["1h30m"], ["Never"]])("%s", (expireAfter) => {
    const pool = converted(beta({ spec: { disruption: { expireAfter } } }));
    expect(at(pool, "spec.template.spec.expireAfter")).toBe(expireAfter);
    expect(at(pool, "spec.disruption.expireAfter")).toBeUndefined();
  });

  it("is 720h when unset", () => expect(at(converted(beta()), "spec.template.spec.expireAfter")).toBe("720h"));

  it("is refused when the template says something else already", () => {
    const pool = beta({ spec: { disruption: { expireAfter: "1h" } }, node: { expireAfter: "2h" } });
    expect(problems(toV1([pool], { mode: "lenient" }))).toEqual(["not-convertible spec.disruption.expireAfter"]);
  });
});

describe("01 §7.3 consolidation (01 §9.19)", () => {
  it.each([
    [
      { consolidationPolicy: "WhenUnderutilized" },
      { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "0s" },
    ],
    [{}, { consolidateAfter: "0s" }],
    [
      { consolidationPolicy: "WhenUnderutilized", consolidateAfter: "Never" },
      { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "Never" },
    ],
    [{ consolidateAfter: "Never" }, { consolidateAfter: "Never" }],
    [
      { consolidationPolicy: "WhenEmpty", consolidateAfter: "30s" },
      { consolidationPolicy: "WhenEmpty", consolidateAfter: "30s" },
    ],
    [
      { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" },
      { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" },
    ],
  ])("%j becomes %j, in silence", (disruption, expected) => {
    const conversion = toV1([beta({ spec: { disruption } })], { mode: "strict" });
    expect(at(only(conversion.objects).object, "spec.disruption")).toEqual(expected);
    expect(conversion.warnings).toEqual([]);
  });

  it("leaves out the block that was left out", () => expect(at(converted(beta()), "spec.disruption")).toBeUndefined());

  it("WhenEmpty without a wait is 0s with a warning, an error when strict", () => {
    const pool = beta({ spec: { disruption: { consolidationPolicy: "WhenEmpty" } } });
    expect(at(converted(pool), "spec.disruption.consolidateAfter")).toBe("0s");
    expect(warnings(toV1([pool], { mode: "lenient" }))).toEqual([
      "consolidate-after-assumed spec.disruption.consolidateAfter",
    ]);
    expect(problems(toV1([pool], { mode: "strict" }))).toEqual(["required spec.disruption.consolidateAfter"]);
  });

  it("a wait beside WhenUnderutilized, which beta refused, is kept with a warning", () => {
    const pool = beta({ spec: { disruption: { consolidateAfter: "5m" } } });
    expect(at(converted(pool), "spec.disruption.consolidateAfter")).toBe("5m");
    expect(warnings(toV1([pool], { mode: "lenient" }))).toEqual([
      "consolidate-after-kept spec.disruption.consolidateAfter",
    ]);
    expect(problems(toV1([pool], { mode: "strict" }))).toEqual(["rule spec.disruption.consolidateAfter"]);
  });

  it("an unknown policy is refused, with the nearest one named", () => {
    const { problems: found } = toV1([beta({ spec: { disruption: { consolidationPolicy: "WhenEmtpy" } } })], {
      mode: "lenient",
    });
    expect(only(found).message).toBe("unsupported consolidationPolicy WhenEmtpy; did you mean WhenEmpty?");
  });

  it("01 §8.4 WhenIdle is read in v1beta1 only", () => {
    const v1 = {
      ...beta({ spec: { disruption: { consolidationPolicy: "WhenIdle" } } }),
      apiVersion: "karpenter.sh/v1",
    };
    const unchanged = only(toV1([v1], { mode: "lenient" }).objects);
    expect(unchanged.object).toEqual(v1);
    expect(() => stored(unchanged.object)).toThrow(/WhenEmptyOrUnderutilized/);
  });

  it("01 §8.4 budgets: [] stays [], which is not the same as none", () => {
    expect(at(converted(beta({ spec: { disruption: { budgets: [] } } })), "spec.disruption.budgets")).toEqual([]);
    expect(at(converted(beta({ spec: { disruption: {} } })), "spec.disruption.budgets")).toBeUndefined();
  });
});

describe("01 §7.3 nodeClassRef", () => {
  it.each([
    [{ apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass", name: "x" }, "karpenter.k8s.aws", "EC2NodeClass"],
    [{ name: "x" }, "karpenter.k8s.aws", "EC2NodeClass"],
    [{ kind: "EC2NodeClass", name: "x" }, "karpenter.k8s.aws", "EC2NodeClass"],
    [{ apiVersion: "", name: "x" }, "karpenter.k8s.aws", "EC2NodeClass"],
    [
      { apiVersion: "karpenter.test.sh/v1beta1", kind: "TestNodeClass", name: "x" },
      "karpenter.test.sh",
      "TestNodeClass",
    ],
    [{ kind: "KWOKNodeClass", name: "x" }, "karpenter.kwok.sh", "KWOKNodeClass"],
    [{ group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "x" }, "karpenter.kwok.sh", "KWOKNodeClass"],
  ])("%j", (ref, group, kind) => {
    const pool = converted(beta({ node: { nodeClassRef: ref } }));
    expect(at(pool, "spec.template.spec.nodeClassRef")).toEqual({ group, kind, name: "x" });
  });

  it("is left alone when it stands in both places: the schema drops the wrong one", () => {
    const pool = converted(beta({ spec: { nodeClassRef: { name: "other" } } }));
    expect(at(pool, "spec.template.spec.nodeClassRef.name")).toBe("default");
  });

  it("may stand in both places with the same name, as it does when a manifest is applied again", () => {
    const pool = beta({ spec: { nodeClassRef: { name: "default" } } });
    expect(at(converted(pool), "spec.nodeClassRef")).toBeUndefined();
    expect(warnings(toV1([pool], { mode: "lenient" }))).toEqual(["node-class-moved spec.nodeClassRef"]);
  });

  it("01 §8.4 in v1 a misplaced one is an error that names both places", () => {
    const v1 = {
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "a" },
      spec: { nodeClassRef: { name: "x" }, template: { spec: { requirements: [] } } },
    };
    const problem = only(toV1([v1], { mode: "lenient" }).problems);
    expect(problem.message).toContain("spec.nodeClassRef");
    expect(problem.message).toContain("spec.template.spec.nodeClassRef");
  });

  it("is kept word for word in an annotation when both versions are served", () => {
    const pool = converted(beta(), { roundTrip: true });
    expect(at(pool, "metadata.annotations")).toEqual({
      "compatibility.karpenter.sh/v1beta1-nodeclass-reference": JSON.stringify(nodeClassRef),
    });
  });

  it("that was assumed is not there on the way back", () => {
    const stored = converted(beta({ node: { nodeClassRef: undefined } }), { roundTrip: true });
    expect(at(stored, "spec.template.spec.nodeClassRef.name")).toBe("default");
    expect(at(only(toV1beta1([stored]).objects).object, "spec.template.spec.nodeClassRef")).toBeUndefined();
    const renamed = structuredClone(stored) as { spec: { template: { spec: { nodeClassRef: { name: string } } } } };
    renamed.spec.template.spec.nodeClassRef.name = "other";
    expect(at(only(toV1beta1([renamed]).objects).object, "spec.template.spec.nodeClassRef.name")).toBe("other");
  });
});

describe("01 §7.9 operator Out", () => {
  const requirement = { key: "kubernetes.io/arch", operator: "Out", values: ["arm64"] };
  it("means NotIn in old manifests", () => {
    const pool = beta({ node: { requirements: [requirement] } });
    expect(at(converted(pool), "spec.template.spec.requirements")).toEqual([{ ...requirement, operator: "NotIn" }]);
    expect(warnings(toV1([pool], { mode: "lenient" }))).toEqual([
      "operator-assumed spec.template.spec.requirements[0].operator",
    ]);
    expect(only(toV1([pool], { mode: "strict" }).problems).message).toBe("unknown operator Out; did you mean NotIn?");
  });

  it("gets the hint in v1", () => {
    const pool = { ...beta({ node: { requirements: [requirement] } }), apiVersion: "karpenter.sh/v1" };
    expect(only(toV1([pool], { mode: "lenient" }).problems).message).toBe("unknown operator Out; did you mean NotIn?");
  });
});

it("01 §7.3 drops template.spec.resources with a warning", () => {
  const pool = beta({ node: { resources: { requests: {} } } });
  expect(at(converted(pool), "spec.template.spec.resources")).toBeUndefined();
  expect(warnings(toV1([pool], { mode: "lenient" }))).toEqual(["field-dropped spec.template.spec.resources"]);
});

it("01 §8.4 warns of a pool name that does not fit a label", () => {
  const pool = beta({ metadata: { name: "a".repeat(64) } });
  expect(warnings(toV1([pool], { mode: "lenient" }))).toEqual(["name-too-long metadata.name"]);
});

describe("01 §7.3 the way back", () => {
  const back = (object: unknown) => only(toV1beta1([object]).objects).object;

  it.each<[string, Parts]>([
    ["bare", {}],
    [
      "Never and WhenEmpty",
      { spec: { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never", expireAfter: "Never" } } },
    ],
    ["WhenUnderutilized", { spec: { disruption: { consolidationPolicy: "WhenUnderutilized", expireAfter: "1h" } } }],
    [
      "WhenUnderutilized and Never",
      {
        spec: {
          disruption: { consolidationPolicy: "WhenUnderutilized", consolidateAfter: "Never", expireAfter: "1h" },
        },
      },
    ],
    ["kubelet", { node: { kubelet: { maxPods: 110 } } }],
    ["a bare reference", { node: { nodeClassRef: { name: "x" } } }],
    [
      "budgets",
      {
        spec: {
          disruption: { consolidationPolicy: "WhenUnderutilized", expireAfter: "2h", budgets: [{ nodes: "1" }] },
        },
      },
    ],
  ])("gives back what was written: %s", (_name, parts) => {
    const source = beta(parts);
    const there = only(toV1([source], { mode: "lenient", roundTrip: true }).objects).object;
    const again = structuredClone(back(there)) as { spec: { disruption?: { expireAfter?: string } } };
    // The beta schema's own default is written out on the way; everything else is to the letter.
    if (at(source, "spec.disruption") === undefined) delete again.spec.disruption;
    expect(again).toEqual(source);
  });

  it.each([
    ["terminationGracePeriod", "spec.template.spec.terminationGracePeriod"],
    ["replicas", "spec.replicas"],
    ["limits.nodes", "spec.limits.nodes"],
    ["reasons", "spec.disruption.budgets[0].reasons"],
  ])("loses %s with a warning", (_name, path) => {
    const v1 = {
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "a" },
      spec: {
        replicas: 1,
        limits: { nodes: 3 },
        disruption: { budgets: [{ nodes: "1", reasons: ["Empty"] }] },
        template: {
          spec: {
            terminationGracePeriod: "1h",
            requirements: [],
            nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "x" },
          },
        },
      },
    };
    const conversion = toV1beta1([v1]);
    expect(warnings(conversion)).toContain(`field-dropped ${path}`);
    expect(only(conversion.objects).object).toEqual({
      apiVersion: "karpenter.sh/v1beta1",
      kind: "NodePool",
      metadata: { name: "a" },
      spec: {
        limits: {},
        disruption: { budgets: [{ nodes: "1" }] },
        template: { spec: { requirements: [], nodeClassRef: { ...nodeClassRef, name: "x" } } },
      },
    });
  });

  it("has no word for Balanced", () => {
    const v1 = {
      ...beta({ spec: { disruption: { consolidationPolicy: "Balanced", consolidateAfter: "1m" } } }),
      apiVersion: "karpenter.sh/v1",
    };
    expect(warnings(toV1beta1([v1]))).toEqual(["policy-lost spec.disruption.consolidationPolicy"]);
    expect(at(back(v1), "spec.disruption")).toEqual({ consolidationPolicy: "WhenUnderutilized" });
  });

  it.each([
    ["Gte", "5", "Gt", ["4"]],
    ["Lte", "5", "Lt", ["6"]],
    ["Gte", "0", "Exists", []],
  ])("says %s %s as %s %j", (operator, value, expected, values) => {
    const requirements = [{ key: "karpenter.k8s.aws/instance-cpu", operator, values: [value] }];
    const v1 = { ...beta({ node: { requirements } }), apiVersion: "karpenter.sh/v1" };
    const items = at(back(v1), "spec.template.spec.requirements");
    expect(Array.isArray(items) && items.filter(isRecord)).toEqual([
      { key: "karpenter.k8s.aws/instance-cpu", operator: expected, values },
    ]);
  });

  it("strips the annotations that served the conversion", () => {
    const v1 = {
      ...beta({
        metadata: {
          annotations: {
            "karpenter.sh/stored-version-migrated": "true",
            "compatibility.karpenter.sh/v1beta1-kubelet-conversion": "{",
          },
        },
      }),
      apiVersion: "karpenter.sh/v1",
    };
    expect(at(back(v1), "metadata")).toEqual({ name: "default" });
  });
});
