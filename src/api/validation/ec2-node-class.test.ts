import { describe, expect, it } from "vitest";
import { amiAliasOf, resolvedAmiFamily } from "./ami-family.ts";
import { aliasProblem, mixedTermProblems, tagProblems } from "./ec2-node-class.ts";

describe("EC2NodeClass tags", () => {
  it.each([
    "kubernetes.io/cluster/my-cluster",
    "eks:eks-cluster-name",
    "karpenter.sh/nodepool",
    "karpenter.sh/nodeclaim",
    "karpenter.k8s.aws/ec2nodeclass",
  ])("01:EC15 %s is ours", (key) => {
    expect(tagProblems({ [key]: "x", fine: "y" })).toMatchObject([
      { code: "restricted-tag", path: ["spec", "tags", key] },
    ]);
  });

  it("01 §1.6.2 all are reported, and others are the user's", () => {
    expect(tagProblems({ "karpenter.sh/nodepool": "", "eks:eks-cluster-name": "" })).toHaveLength(2);
    expect(
      tagProblems({
        Name: "x",
        "kubernetes.io/cluster/": "y",
        "kubernetes.io/cluster": "y",
        "karpenter.sh/other": "z",
      }),
    ).toEqual([]);
    expect(tagProblems(undefined)).toEqual([]);
  });
});

describe("image families", () => {
  const alias = (text: string) => ({ amiSelectorTerms: [{ alias: text }] });

  it.each([
    ["al2@latest", 32, false],
    ["al2@latest", 33, true],
    ["al2023@latest", 33, false],
    ["windows2025@latest", 34, true],
    ["windows2025@latest", 35, false],
    ["windows2022@latest", 34, false],
  ])("01 §1.6.2 alias %s on Kubernetes 1.%i is unsupported: %s", (text, minor, isUnsupported) => {
    expect(aliasProblem(alias(text), { minor }) !== undefined).toBe(isUnsupported);
  });

  it("01 §1.6.2 says what to use instead", () => {
    expect(aliasProblem(alias("al2@latest"), { minor: 34 })?.message).toContain("use al2023");
    expect(aliasProblem({ amiFamily: "AL2", amiSelectorTerms: [{}] }, { minor: 34 })).toBeUndefined();
  });

  it.each([
    ["al2@v1", "AL2"],
    ["al2023@v1", "AL2023"],
    ["bottlerocket@v1", "Bottlerocket"],
    ["windows2019@latest", "Windows2019"],
    ["windows2022@latest", "Windows2022"],
    ["windows2025@latest", "Windows2025"],
    ["constructor@latest", "Custom"],
  ])("01 §1.6.5 alias %s is family %s", (text, family) => {
    expect(resolvedAmiFamily(alias(text))).toBe(family);
  });

  it("01 §1.6.5 the field beats the alias; neither is Custom", () => {
    expect(resolvedAmiFamily({ amiFamily: "Custom", ...alias("al2@v1") })).toBe("Custom");
    expect(resolvedAmiFamily({})).toBe("Custom");
    expect(amiAliasOf(alias("bottlerocket@1.20.0@x"))).toEqual({ family: "bottlerocket", version: "1.20.0@x" });
  });
});

describe("mixed selector terms", () => {
  const pathsOf = (spec: Parameters<typeof mixedTermProblems>[0]) =>
    mixedTermProblems(spec).map(({ path, message }) => `${path.slice(1).join(".")} ${message.split(";")[0]}`);

  it("04 §9.7-1 names terms of which a part is not used", () => {
    expect(
      pathsOf({
        subnetSelectorTerms: [{ id: "subnet-1", tags: { a: "b" } }, { id: "subnet-2" }, { tags: { a: "b" } }],
        securityGroupSelectorTerms: [
          { id: "sg-1", name: "x", tags: { a: "b" } },
          { name: "x", tags: { a: "b" } },
          { name: "x" },
        ],
      }),
    ).toEqual([
      "subnetSelectorTerms.0 only id is used and tags ignored",
      "securityGroupSelectorTerms.0 only id is used and name and tags ignored",
      "securityGroupSelectorTerms.1 only name is used and tags ignored",
    ]);
  });

  it("04 §9.7-1 a reservation term with an id and more selects both", () => {
    const terms = [{ id: "cr-1", tags: { a: "b" } }, { id: "cr-2", instanceMatchCriteria: "open" }, { id: "cr-3" }];
    expect(pathsOf({ capacityReservationSelectorTerms: terms })).toHaveLength(2);
  });
});
