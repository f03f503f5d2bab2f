import { describe, expect, it } from "vitest";
import type { ConversionMode } from "../../src/api/conversion/conversion.ts";
import { convertManifests } from "../../src/api/conversion/manifests.ts";
import { printYaml } from "../../src/api/manifest/print.ts";
import { formatPath } from "../../src/api/problem.ts";
import { object, only, seed, seedText, stored } from "./fixtures.ts";

function verdict(name: string, mode: ConversionMode, defaultInstanceProfile?: string) {
  const profile = defaultInstanceProfile === undefined ? {} : { defaultInstanceProfile };
  const { documents, findings } = convertManifests([seed(name)], { mode, provider: "all", ...profile });
  const list = (severity: string) =>
    findings
      .filter((one) => one.severity === severity)
      .map((one) => `${one.position.line} ${one.code} ${formatPath(one.path)}`);
  return { objects: documents.map((one) => one.object), errors: list("error"), warnings: list("warning") };
}

const ref = "spec.template.spec.nodeClassRef";
const classNotes = (line: number, userData: number) => [
  `${line} hop-limit-changed spec.metadataOptions`,
  `${line + 1} al2-retired spec.amiFamily`,
  `${userData} bootstrap-twice spec.userData`,
];

describe("01 §7.9 the seeds' complete objects, lenient", () => {
  it.each([
    ["M01", ["35 policy-assumed spec.disruption.consolidationPolicy"]],
    ["M02", ["5 instance-profile-assumed spec.instanceProfile", ...classNotes(5, 14)]],
    ["M03", []],
    ["M04", []],
    ["M05", []],
    ["M06", [`7 node-class-assumed ${ref}`]],
    ["M07", []],
    ["M08", [`7 node-class-assumed ${ref}`, "15 consolidate-after-assumed spec.disruption.consolidateAfter"]],
    ["M13", [`7 node-class-assumed ${ref}`]],
    ["M14", ["22 node-class-moved spec.nodeClassRef"]],
    [
      "M15",
      [
        "5 selector-assumed spec.subnetSelectorTerms",
        "5 selector-assumed spec.securityGroupSelectorTerms",
        "5 instance-profile-assumed spec.instanceProfile",
        ...classNotes(5, 7),
      ],
    ],
    ["M16", [`10 node-class-assumed ${ref}`]],
  ])("%s comes out as a valid object", (name, warnings) => {
    const result = verdict(name, "lenient");
    expect(result.errors).toEqual([]);
    expect(result.warnings).toEqual(warnings);
    const converted = only(result.objects) as { apiVersion: string };
    if (converted.apiVersion === "v1") expect(converted).toEqual(seed(name).object);
    else expect(() => stored(converted)).not.toThrow();
  });
});

describe("01 §7.9 strict gives exactly the verdicts of the table", () => {
  it.each([
    ["M01", [], 1],
    ["M02", ["5 required spec.instanceProfile"], 0],
    ["M03", [], 1],
    ["M04", [], 1],
    ["M05", [], 1],
    ["M06", [`7 required ${ref}`], 0],
    ["M07", [], 1],
    ["M08", [`7 required ${ref}`, "15 required spec.disruption.consolidateAfter"], 0],
    ["M13", [`7 required ${ref}`], 0],
    ["M14", ["22 unknown-field spec.nodeClassRef"], 0],
    [
      "M15",
      [
        "5 required spec.subnetSelectorTerms",
        "5 required spec.securityGroupSelectorTerms",
        "5 required spec.instanceProfile",
      ],
      0,
    ],
    ["M16", [`10 required ${ref}`], 0],
  ])("%s", (name, errors, objects) => {
    const result = verdict(name, "strict");
    expect(result.errors).toEqual(errors);
    expect(result.objects).toHaveLength(objects);
  });

  it("M01 keeps its warning", () => {
    expect(verdict("M01", "strict").warnings).toEqual(["35 policy-assumed spec.disruption.consolidationPolicy"]);
  });

  it("M02 is accepted, with a warning, once a default instance profile is configured", () => {
    const result = verdict("M02", "strict", "KarpenterNodeInstanceProfile");
    expect(result.errors).toEqual([]);
    expect(result.warnings).toContain("5 instance-profile-assumed spec.instanceProfile");
    expect(only(result.objects)).toMatchObject({ spec: { instanceProfile: "KarpenterNodeInstanceProfile" } });
  });
});

describe.each(["lenient", "strict"] as const)("01 §7.9 fragments, %s", (mode) => {
  it.each(["M09", "M10", "M11", "M12", "M17"])("%s is no object and says how to merge it", (name) => {
    expect(verdict(name, mode)).toEqual({ objects: [], errors: ["1 required apiVersion"], warnings: [] });
  });

  it("M18 is not a complete Pod", () => {
    expect(verdict("M18", mode).errors).toEqual(["1 required metadata.name", "3 required spec.containers"]);
  });
});

it("01 §7.9 M1 has exactly the v1 form of the specification", () => {
  const expected = object(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    metadata: {labels: {karpenter.kwok.x-k8s.io/node: "true"}}
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge, c5.large, c5.xlarge]}
      taints: [{key: example.com/special-taint, value: "true", effect: NoSchedule}]
  limits: {cpu: 1000}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s, budgets: [{nodes: 10%}]}
`);
  expect(stored(only(verdict("M01", "lenient").objects))).toEqual(expected);
});

it("01 §7.9 M2 keeps everything else and finds its images by alias", () => {
  expect(only(verdict("M02", "lenient").objects)).toEqual({
    apiVersion: "karpenter.k8s.aws/v1",
    kind: "EC2NodeClass",
    metadata: { name: "default" },
    spec: {
      amiSelectorTerms: [{ alias: "al2@latest" }],
      subnetSelectorTerms: [{ tags: { "karpenter.sh/discovery": "my-cluster" } }],
      securityGroupSelectorTerms: [{ tags: { "karpenter.sh/discovery": "my-cluster" } }],
      instanceProfile: "KarpenterNodeInstanceProfile",
      instanceStorePolicy: "RAID0",
      metadataOptions: { httpPutResponseHopLimit: 2 },
      userData: '#!/bin/bash\n/etc/eks/bootstrap.sh my-cluster\necho "net.ipv4.ip_forward = 1" >> /etc/sysctl.conf\n',
      blockDeviceMappings: [
        { deviceName: "/dev/xvda", ebs: { volumeSize: "100Gi", volumeType: "gp3", encrypted: true } },
      ],
    },
  });
});

it("keeps the comments and the look of a document that survives", () => {
  const { documents } = convertManifests([seed("M08")], { mode: "lenient", provider: "all" });
  expect(printYaml(documents)).toBe(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: spot-nodes
spec:
  template:
    spec:
      requirements:
        - key: karpenter.sh/capacity-type
          operator: In
          values: ["spot"] # Only use spot instances
        - key: node.kubernetes.io/instance-type
          operator: In
          values: ["m5.large", "m5.xlarge", "m4.large", "m4.xlarge"] # Multiple types for better availability
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
      expireAfter: 720h
  disruption:
    consolidationPolicy: WhenEmpty # Consolidate more aggressively to save money
    consolidateAfter: 0s
`);
});

it("prints what it does not touch to the letter", () => {
  const { documents } = convertManifests([seed("M03"), seed("M07")], { mode: "lenient", provider: "all" });
  expect(printYaml(documents)).toBe(`${seedText("M03")}---\n${seedText("M07")}`);
});
