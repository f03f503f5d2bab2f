import { describe, expect, it } from "vitest";
import { valueAt } from "../../src/api/conversion/conversion-draft.ts";
import { toV1 } from "../../src/api/conversion/to-v1.ts";
import { converted, only, problems, stored, warnings } from "./fixtures.ts";

const complete = {
  amiFamily: "AL2023",
  instanceProfile: "nodes",
  subnetSelector: { a: "b" },
  securityGroupSelector: { a: "b" },
  metadataOptions: { httpPutResponseHopLimit: 2 },
};

function template(spec: object = {}) {
  return {
    apiVersion: "karpenter.k8s.aws/v1alpha1",
    kind: "AWSNodeTemplate",
    metadata: { name: "default" },
    spec: { ...complete, ...spec },
  };
}

const field = (object: unknown, name: string) => valueAt(object, ["spec", name]);

describe("01 §7.8 selectors", () => {
  it.each<[object, object[]]>([
    [{ a: "b" }, [{ tags: { a: "b" } }]],
    [{ a: "b", c: "d" }, [{ tags: { a: "b", c: "d" } }]],
    [{ a: "b,c" }, [{ tags: { a: "b" } }, { tags: { a: "c" } }]],
    [
      { a: "b, c", d: "e,f" },
      [
        { tags: { a: "b", d: "e" } },
        { tags: { a: "b", d: "f" } },
        { tags: { a: "c", d: "e" } },
        { tags: { a: "c", d: "f" } },
      ],
    ],
    [{ a: "*" }, [{ tags: { a: "*" } }]],
    [{ "aws-ids": "subnet-1,subnet-2" }, [{ id: "subnet-1" }, { id: "subnet-2" }]],
    [{ "aws::ids": "subnet-1" }, [{ id: "subnet-1" }]],
  ])("%j", (subnetSelector, expected) => {
    const conversion = toV1([template({ subnetSelector })], { mode: "strict" });
    expect(field(only(conversion.objects).object, "subnetSelectorTerms")).toEqual(expected);
    expect(conversion.warnings).toEqual([]);
    expect(() => stored(only(conversion.objects).object)).not.toThrow();
  });

  it("reads an empty value as any, with a warning", () => {
    const source = template({ subnetSelector: { a: "" } });
    expect(field(converted(source), "subnetSelectorTerms")).toEqual([{ tags: { a: "*" } }]);
    expect(warnings(toV1([source], { mode: "lenient" }))).toEqual(["wildcard-assumed spec.subnetSelector.a"]);
  });

  it.each<[object, object[]]>([
    [
      { "aws::name": "x,y", "aws::owners": "self" },
      [
        { owner: "self", name: "x" },
        { owner: "self", name: "y" },
      ],
    ],
    [
      { "aws::owners": "self,amazon", a: "b" },
      [
        { owner: "self", tags: { a: "b" } },
        { owner: "amazon", tags: { a: "b" } },
      ],
    ],
  ])("images by %j", (amiSelector, expected) => {
    const nodeClass = converted(template({ amiSelector }));
    expect(field(nodeClass, "amiSelectorTerms")).toEqual(expected);
    expect(field(nodeClass, "amiFamily")).toBe("AL2023");
    expect(() => stored(nodeClass)).not.toThrow();
  });

  it("an id stands alone", () => {
    const source = template({ amiSelector: { "aws::ids": "ami-1", "aws::name": "x", a: "b" } });
    expect(field(converted(source), "amiSelectorTerms")).toEqual([{ id: "ami-1" }]);
    expect(warnings(toV1([source], { mode: "lenient" }))).toEqual(["field-dropped spec.amiSelector"]);
  });

  it("refuses more combinations than there can be terms", () => {
    const many = Array.from({ length: 40 }, (_, index) => String(index)).join(",");
    const source = template({ subnetSelector: { a: many, b: many, c: many } });
    expect(problems(toV1([source], { mode: "lenient" }))).toEqual(["too-many spec.subnetSelector"]);
  });
});

describe("01 §7.8 the rest", () => {
  it.each<[string, unknown]>([
    ["userData", "echo"],
    ["tags", { a: "b" }],
    ["context", "ctx"],
    ["detailedMonitoring", true],
    ["metadataOptions", { httpTokens: "required", httpPutResponseHopLimit: 1 }],
    ["blockDeviceMappings", [{ deviceName: "/dev/xvda", ebs: { volumeSize: "20Gi" } }]],
    ["instanceProfile", "other"],
  ])("copies %s", (name, value) => {
    const conversion = toV1([template({ [name]: value })], { mode: "strict" });
    expect(field(only(conversion.objects).object, name)).toEqual(value);
  });

  it("is AL2 when nothing is said", () => {
    const { amiFamily: _none, ...spec } = template().spec as Record<string, unknown>;
    expect(field(converted({ ...template(), spec }), "amiSelectorTerms")).toEqual([{ alias: "al2@latest" }]);
  });

  it.each(["launchTemplate", "launchTemplateName"])("refuses %s", (name) => {
    for (const mode of ["lenient", "strict"] as const) {
      expect(problems(toV1([template({ [name]: "mine" })], { mode }))).toEqual([`not-convertible spec.${name}`]);
    }
  });

  it("takes the old default instance profile, else refuses when strict", () => {
    const { instanceProfile: _none, ...spec } = template().spec as Record<string, unknown>;
    const bare = { ...template(), spec };
    expect(field(converted(bare, { defaultInstanceProfile: "old" }), "instanceProfile")).toBe("old");
    expect(problems(toV1([bare], { mode: "strict" }))).toEqual(["required spec.instanceProfile"]);
  });
});

it("01 §7.8 does not import running Machines", () => {
  const machine = { apiVersion: "karpenter.sh/v1alpha5", kind: "Machine", metadata: { name: "a" }, spec: {} };
  expect(problems(toV1([machine], { mode: "lenient" }))).toEqual(["not-convertible kind"]);
});
