import { describe, expect, it } from "vitest";
import { valueAt } from "../../src/api/conversion/conversion-draft.ts";
import { toV1 } from "../../src/api/conversion/to-v1.ts";
import { toV1beta1 } from "../../src/api/conversion/to-v1beta1.ts";
import { converted, only, problems, stored, warnings } from "./fixtures.ts";

const metadataOptions = {
  httpEndpoint: "enabled",
  httpProtocolIPv6: "disabled",
  httpPutResponseHopLimit: 1,
  httpTokens: "required",
};
const complete = {
  subnetSelectorTerms: [{ tags: { a: "b" } }, { id: "subnet-1" }],
  securityGroupSelectorTerms: [{ name: "x" }, { tags: { a: "*" } }],
  role: "node",
  metadataOptions,
};

function beta(spec: object = {}, metadata: object = {}) {
  return {
    apiVersion: "karpenter.k8s.aws/v1beta1",
    kind: "EC2NodeClass",
    metadata: { name: "default", ...metadata },
    spec: { amiFamily: "AL2023", ...complete, ...spec },
  };
}

const at = (object: unknown, dotted: string) => valueAt(object, dotted.split("."));
const terms = [{ id: "ami-123" }];

describe("01 §7.5 images", () => {
  it.each(["AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022"])("%s alone becomes an alias", (amiFamily) => {
    const nodeClass = converted(beta({ amiFamily }));
    expect(at(nodeClass, "spec.amiSelectorTerms")).toEqual([{ alias: `${amiFamily.toLowerCase()}@latest` }]);
    expect(at(nodeClass, "spec.amiFamily")).toBeUndefined();
    expect(() => stored(nodeClass)).not.toThrow();
  });

  it.each(["AL2", "AL2023", "Bottlerocket", "Windows2019", "Windows2022"])("%s with terms keeps both", (amiFamily) => {
    const nodeClass = converted(beta({ amiFamily, amiSelectorTerms: terms }));
    expect(at(nodeClass, "spec")).toMatchObject({ amiFamily, amiSelectorTerms: terms });
    expect(() => stored(nodeClass)).not.toThrow();
  });

  it("pins the alias to the version an annotation names", () => {
    const annotations = { "compatibility.karpenter.k8s.aws/v1-alias-version": "v20240807" };
    const nodeClass = converted(beta({}, { annotations }));
    expect(at(nodeClass, "spec.amiSelectorTerms")).toEqual([{ alias: "al2023@v20240807" }]);
  });

  it("Ubuntu with terms is AL2 with Ubuntu's disk, and remembers it", () => {
    const source = beta({ amiFamily: "Ubuntu", amiSelectorTerms: terms });
    const nodeClass = converted(source);
    expect(at(nodeClass, "spec")).toMatchObject({
      amiFamily: "AL2",
      amiSelectorTerms: terms,
      blockDeviceMappings: [
        { deviceName: "/dev/sda1", rootVolume: true, ebs: { encrypted: true, volumeType: "gp3", volumeSize: "20Gi" } },
      ],
    });
    expect(at(nodeClass, "metadata.annotations")).toEqual({
      "compatibility.karpenter.k8s.aws/v1beta1-ubuntu": "amiFamily,blockDeviceMappings",
    });
    expect(warnings(toV1([source], { mode: "strict" }))).toEqual(["ubuntu-as-al2 spec.amiFamily"]);
    expect(() => stored(nodeClass)).not.toThrow();
    expect(only(toV1beta1([nodeClass]).objects).object).toEqual(source);
  });

  it("Ubuntu with disks of its own keeps them", () => {
    const blockDeviceMappings = [{ deviceName: "/dev/sda1", ebs: { volumeSize: "50Gi" } }];
    const source = beta({ amiFamily: "Ubuntu", amiSelectorTerms: terms, blockDeviceMappings });
    const nodeClass = converted(source);
    expect(at(nodeClass, "spec.blockDeviceMappings")).toEqual(blockDeviceMappings);
    expect(valueAt(nodeClass, ["metadata", "annotations", "compatibility.karpenter.k8s.aws/v1beta1-ubuntu"])).toBe(
      "amiFamily",
    );
    expect(only(toV1beta1([nodeClass]).objects).object).toEqual(source);
  });

  it.each([
    ["Ubuntu", "not-convertible spec.amiFamily"],
    ["Custom", "required spec.amiSelectorTerms"],
    ["", "required spec.amiSelectorTerms"],
    ["al2", "enum spec.amiFamily"],
  ])("%j without terms is refused in both modes", (amiFamily, problem) => {
    for (const mode of ["lenient", "strict"] as const) {
      expect(problems(toV1([beta({ amiFamily })], { mode }))).toEqual([problem]);
    }
  });

  it.each(["Custom", ""])("%j with terms is Custom", (amiFamily) => {
    const nodeClass = converted(beta({ amiFamily, amiSelectorTerms: terms }));
    expect(at(nodeClass, "spec")).toMatchObject({ amiFamily: "Custom", amiSelectorTerms: terms });
  });

  it("names the nearest family", () => {
    expect(only(toV1([beta({ amiFamily: "al2023" })], { mode: "lenient" }).problems).message).toBe(
      "unknown amiFamily al2023; did you mean AL2023?",
    );
  });
});

describe("01 §7.5 what is copied", () => {
  it.each<[string, unknown]>([
    ["subnetSelectorTerms", complete.subnetSelectorTerms],
    ["securityGroupSelectorTerms", complete.securityGroupSelectorTerms],
    ["associatePublicIPAddress", false],
    ["context", "ctx"],
    ["detailedMonitoring", true],
    ["role", "other"],
    ["instanceStorePolicy", "RAID0"],
    ["tags", { a: "b" }],
    ["userData", "echo"],
    ["metadataOptions", { ...metadataOptions, httpTokens: "optional" }],
    ["blockDeviceMappings", [{ deviceName: "/dev/xvda", rootVolume: true, ebs: { volumeSize: "20Gi", iops: 3000 } }]],
  ])("%s, there and back", (field, value) => {
    const source = beta({ [field]: value });
    const conversion = toV1([source], { mode: "strict" });
    expect(at(only(conversion.objects).object, `spec.${field}`)).toEqual(value);
    expect(conversion.warnings).toEqual([]);
    expect(only(toV1beta1([only(conversion.objects).object]).objects).object).toEqual(source);
  });

  it("instanceProfile instead of a role", () => {
    const { role: _role, ...rest } = beta({ instanceProfile: "p" }).spec as Record<string, unknown>;
    const nodeClass = converted({ ...beta(), spec: rest });
    expect(at(nodeClass, "spec.instanceProfile")).toBe("p");
    expect(at(nodeClass, "spec.role")).toBeUndefined();
  });

  it.each(["karpenter.sh/managed-by", "karpenter.sh/provisioner-name"])("drops the tag %s with a warning", (tag) => {
    const source = beta({ tags: { [tag]: "x", a: "b" } });
    expect(at(converted(source), "spec.tags")).toEqual({ a: "b" });
    expect(warnings(toV1([source], { mode: "strict" }))).toEqual([`field-dropped spec.tags[${tag}]`]);
  });
});

describe("01 §7.2 the hop limit", () => {
  it("is written out where beta filled it in, also where nothing was said", () => {
    const partial = beta({ metadataOptions: { httpTokens: "optional" } });
    expect(at(converted(partial), "spec.metadataOptions")).toEqual({
      httpTokens: "optional",
      httpPutResponseHopLimit: 2,
    });
    expect(warnings(toV1([partial], { mode: "lenient" }))).toEqual(["hop-limit-changed spec.metadataOptions"]);
    const { metadataOptions: _gone, ...bare } = beta().spec as Record<string, unknown>;
    const silent = { ...beta(), spec: bare };
    expect(at(converted(silent), "spec.metadataOptions")).toEqual({ httpPutResponseHopLimit: 2 });
    expect(warnings(toV1([silent], { mode: "lenient" }))).toEqual(["hop-limit-changed spec.metadataOptions"]);
  });
});

it("fills missing selectors with the cluster it was told", () => {
  const {
    subnetSelectorTerms: _s,
    securityGroupSelectorTerms: _g,
    role: _r,
    ...spec
  } = beta().spec as Record<string, unknown>;
  const nodeClass = converted({ ...beta(), spec }, { clusterName: "prod", defaultInstanceProfile: "nodes" });
  const discovery = [{ tags: { "karpenter.sh/discovery": "prod" } }];
  expect(at(nodeClass, "spec")).toMatchObject({
    subnetSelectorTerms: discovery,
    securityGroupSelectorTerms: discovery,
    instanceProfile: "nodes",
  });
});

describe("the way back of an alias", () => {
  const v1 = (alias: string) => ({
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name: "a" },
    spec: { amiSelectorTerms: [{ alias }], ...complete },
  });

  it("is the family, and the version waits in an annotation", () => {
    expect(only(toV1beta1([v1("bottlerocket@1.2.3")]).objects).object).toEqual({
      apiVersion: "karpenter.k8s.aws/v1beta1",
      kind: "EC2NodeClass",
      metadata: { name: "a", annotations: { "compatibility.karpenter.k8s.aws/v1-alias-version": "1.2.3" } },
      spec: { amiFamily: "Bottlerocket", ...complete },
    });
    expect(at(only(toV1beta1([v1("al2@latest")]).objects).object, "metadata")).toEqual({ name: "a" });
  });

  it("loses what came later, with a warning", () => {
    const source = {
      ...v1("al2@latest"),
      spec: { ...v1("al2@latest").spec, kubelet: { maxPods: 1 }, ipPrefixCount: 1 },
    };
    expect(warnings(toV1beta1([source]))).toEqual(["field-dropped spec.kubelet", "field-dropped spec.ipPrefixCount"]);
  });
});
