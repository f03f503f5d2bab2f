import { describe, expect, it } from "vitest";
import { valueAt } from "../../src/api/conversion/conversion-draft.ts";
import { toV1 } from "../../src/api/conversion/to-v1.ts";
import { only, problems, stored, warnings } from "./fixtures.ts";

const lenient = { mode: "lenient" } as const;

function pool(name: string, kubelet?: object, className = "shared") {
  const nodeClassRef = { apiVersion: "karpenter.k8s.aws/v1beta1", kind: "EC2NodeClass", name: className };
  return {
    apiVersion: "karpenter.sh/v1beta1",
    kind: "NodePool",
    metadata: { name },
    spec: { template: { spec: { nodeClassRef, requirements: [], ...(kubelet && { kubelet }) } } },
  };
}

const terms = [{ tags: { a: "b" } }];
const nodeClass = {
  apiVersion: "karpenter.k8s.aws/v1beta1",
  kind: "EC2NodeClass",
  metadata: { name: "shared" },
  spec: {
    amiFamily: "AL2023",
    role: "r",
    subnetSelectorTerms: terms,
    securityGroupSelectorTerms: terms,
    metadataOptions: { httpPutResponseHopLimit: 1 },
  },
};
const v1Class = {
  ...nodeClass,
  apiVersion: "karpenter.k8s.aws/v1",
  spec: {
    role: "r",
    amiSelectorTerms: [{ alias: "al2023@latest" }],
    subnetSelectorTerms: terms,
    securityGroupSelectorTerms: terms,
  },
};

describe("01 §7.5 kubelet settings move to the class", () => {
  it("when all pools of the class agree, in whatever order they wrote them", () => {
    const conversion = toV1(
      [
        pool("a", { maxPods: 10, kubeReserved: { cpu: "1" } }),
        nodeClass,
        pool("b", { kubeReserved: { cpu: "1" }, maxPods: 10 }),
      ],
      lenient,
    );
    expect(conversion.problems).toEqual([]);
    const [a, shared, b] = conversion.objects.map((one) => one.object);
    expect(valueAt(shared, ["spec", "kubelet"])).toEqual({ maxPods: 10, kubeReserved: { cpu: "1" } });
    for (const one of [a, b]) expect(valueAt(one, ["spec", "template", "spec", "kubelet"])).toBeUndefined();
    expect(warnings(conversion)).toEqual([
      "kubelet-moved spec.template.spec.kubelet",
      "kubelet-moved spec.template.spec.kubelet",
    ]);
    for (const one of [a, shared, b]) expect(() => stored(one)).not.toThrow();
  });

  it.each([
    ["other settings", pool("b", { maxPods: 11 })],
    ["no settings", pool("b")],
    [
      "no settings, in v1 already",
      {
        ...pool("b"),
        apiVersion: "karpenter.sh/v1",
        spec: {
          template: {
            spec: {
              requirements: [],
              nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "shared" },
            },
          },
        },
      },
    ],
  ])("not when another pool has %s", (_name, other) => {
    const conversion = toV1([pool("a", { maxPods: 10 }), other, nodeClass], lenient);
    expect(problems(conversion)[0]).toBe("not-convertible spec.template.spec.kubelet");
    expect(conversion.problems[0]).toMatchObject({ input: 0, expected: "one node class for each kubelet setting" });
  });

  it("into a v1 class too, unless that has settings of its own", () => {
    const moved = toV1([pool("a", { maxPods: 10 }), v1Class], lenient);
    expect(moved.objects[1]).toMatchObject({ origin: "same-kind", object: { spec: { kubelet: { maxPods: 10 } } } });
    const own = { ...v1Class, spec: { ...v1Class.spec, kubelet: { maxPods: 5 } } };
    expect(problems(toV1([pool("a", { maxPods: 10 }), own], lenient))).toEqual([
      "not-convertible spec.template.spec.kubelet",
    ]);
    const same = { ...v1Class, spec: { ...v1Class.spec, kubelet: { maxPods: 10 } } };
    expect(toV1([pool("a", { maxPods: 10 }), same], lenient).problems).toEqual([]);
  });

  it("stay behind in an annotation when the class is not there", () => {
    const conversion = toV1([pool("a", { maxPods: 10 })], lenient);
    expect(warnings(conversion)).toEqual(["kubelet-left-behind spec.template.spec.kubelet"]);
    expect(valueAt(only(conversion.objects).object, ["metadata", "annotations"])).toEqual({
      "compatibility.karpenter.sh/v1beta1-kubelet-conversion": '{"maxPods":10}',
    });
    expect(problems(toV1([pool("a", { maxPods: 10 })], { mode: "strict" }))).toEqual([
      "not-convertible spec.template.spec.kubelet",
    ]);
  });

  it("01 §7.6 from a Provisioner, without the container runtime", () => {
    const source = {
      apiVersion: "karpenter.sh/v1alpha5",
      kind: "Provisioner",
      metadata: { name: "p" },
      spec: { providerRef: { name: "shared" }, kubeletConfiguration: { containerRuntime: "dockerd", maxPods: 20 } },
    };
    const conversion = toV1([source, nodeClass], lenient);
    expect(valueAt(conversion.objects[1]?.object, ["spec", "kubelet"])).toEqual({ maxPods: 20 });
    expect(warnings(conversion)).toEqual([
      "field-dropped spec.kubeletConfiguration.containerRuntime",
      "kubelet-moved spec.kubeletConfiguration",
    ]);
  });
});

describe("01 §7.6 pods that speak of provisioners", () => {
  const key = "karpenter.sh/provisioner-name";
  const expression = { key, operator: "In", values: ["default"] };
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
    },
  };
  const template = {
    metadata: { annotations: { "karpenter.sh/do-not-evict": "true" } },
    spec: { nodeSelector: { [key]: "default" }, affinity, topologySpreadConstraints: [{ topologyKey: key }] },
  };
  it.each([
    ["Deployment", "spec.template.", { spec: { template } }],
    ["CronJob", "spec.jobTemplate.spec.template.", { spec: { jobTemplate: { spec: { template } } } }],
  ])("%s passes untouched, with a warning for each key", (kind, prefix, body) => {
    const source = { apiVersion: "apps/v1", kind, metadata: { name: "a" }, ...body };
    const conversion = toV1([source], { mode: "strict" });
    expect(only(conversion.objects).object).toBe(source);
    expect(warnings(conversion)).toEqual([
      `legacy-pod-key ${prefix}metadata.annotations[karpenter.sh/do-not-evict]`,
      `legacy-pod-key ${prefix}spec.nodeSelector[karpenter.sh/provisioner-name]`,
      `legacy-pod-key ${prefix}spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key`,
      `legacy-pod-key ${prefix}spec.topologySpreadConstraints[0].topologyKey`,
    ]);
  });
});

describe("01 §7.1 what nobody knows is named with the nearest known", () => {
  it.each([
    ["karpenter.sh/v1", "NodePol", "unknown-kind kind", "the closest known kind is NodePool"],
    [
      "karpenter.sh/v1beta2",
      "NodePool",
      "unknown-version apiVersion",
      "the closest known version is karpenter.sh/v1beta1",
    ],
    ["karpenter.sh/v1alpha6", "Provisioner", "unknown-version apiVersion", "karpenter.sh/v1alpha5"],
    ["karpenter.k8s.io/v1", "EC2NodeClass", "unknown-version apiVersion", "karpenter.k8s.aws/v1"],
    ["v1", "NodePool", "unknown-version apiVersion", "karpenter.sh/v1"],
    ["karpenter.k8s.aws/v1", "EC2NodeClas", "unknown-kind kind", "EC2NodeClass"],
    ["karpneter.sh/v1", "NodePool", "unknown-version apiVersion", "karpenter.sh/v1"],
  ])("%s %s", (apiVersion, kind, problem, words) => {
    const conversion = toV1([{ apiVersion, kind, metadata: { name: "a" } }], lenient);
    expect(problems(conversion)).toEqual([problem]);
    expect(only(conversion.problems).message).toContain(words);
  });

  it.each([
    ["apps/v1", "Deployment"],
    ["container.gcp.upbound.io/v1beta1", "NodePool"],
    ["eks.amazonaws.com/v1", "NodeClass"],
    ["karpenter.azure.com/v1beta1", "AKSNodeClass"],
    ["karpenter.sh/v1", "NodePool"],
    ["karpenter.sh/v1alpha1", "NodeOverlay"],
  ])("%s %s is left alone", (apiVersion, kind) => {
    const source = { apiVersion, kind, metadata: { name: "a" } };
    const conversion = toV1([source], lenient);
    expect(conversion.problems).toEqual([]);
    expect(only(conversion.objects)).toMatchObject({ origin: "unchanged", object: source });
  });

  it.each([
    [{ kind: "NodePool" }, "required apiVersion"],
    [{ apiVersion: "v1" }, "required kind"],
    [{ apiVersion: 1, kind: "Pod" }, "type apiVersion"],
  ])("%j lacks half its name", (source, problem) => {
    expect(problems(toV1([source], lenient))).toEqual([problem]);
  });
});
