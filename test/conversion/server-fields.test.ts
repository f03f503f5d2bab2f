import { describe, expect, it } from "vitest";
import { convertCommand } from "../../src/cli/convert-command.ts";
import { fakeIo } from "./fake-io.ts";

async function convertedText(text: string): Promise<string> {
  const io = fakeIo({ files: { "old.yaml": text } });
  await convertCommand(io).parseAsync(["-f", "old.yaml"], { from: "user" });
  expect(io.err()).not.toContain("error:");
  return io.out();
}

const serverMade = `
  uid: 5b2c
  resourceVersion: "52"
  generation: 3
  creationTimestamp: "2024-01-01T00:00:00Z"
  managedFields: [{manager: kubectl, operation: Update}]
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    team: a # ours`;
const spec = `spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
`;
const status = `status:
  subnets: [{id: subnet-1, zone: us-west-2a}]
`;

describe("01 §7 what the server wrote", () => {
  it.each(["karpenter.k8s.aws/v1beta1", "karpenter.k8s.aws/v1"])(
    "01 §7 is dropped from objects of %s",
    async (version) => {
      const family = version.endsWith("v1") ? "" : "  amiFamily: AL2023\n";
      const out = await convertedText(
        `apiVersion: ${version}\nkind: EC2NodeClass\nmetadata:\n  name: default # keep${serverMade}\n${spec}${family}${status}`,
      );
      expect(out).toContain("  name: default # keep\n  annotations:\n    team: a # ours\nspec:\n");
      expect(out).not.toMatch(
        /uid|resourceVersion|generation|creationTimestamp|managedFields|last-applied|status|subnet-1/,
      );
    },
  );

  it("01 §7 leaves a manifest that has none of it byte for byte, and other kinds alone", async () => {
    const plain = `apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name:   default}\n${spec}`;
    expect(await convertedText(plain)).toBe(plain);
    const pod = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: "1"}\n`;
    expect(await convertedText(pod)).toBe(pod);
  });
});

describe("01 §7.8 comments on selectors", () => {
  it("01 §7.8 stay with their tags", async () => {
    const out = await convertedText(`apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  instanceProfile: nodes
  # where nodes live
  subnetSelector:
    # the tag of the cluster
    karpenter.sh/discovery: prod # prod only
    tier: private,shared # both
  securityGroupSelector:
    aws-ids: sg-1,sg-2 # by hand
  amiSelector:
    # ours
    aws::name: golden-* # weekly
`);
    expect(out).toContain("  # where nodes live\n  subnetSelectorTerms:\n");
    expect(out).toMatch(
      /# the tag of the cluster\n +karpenter\.sh\/discovery: prod # prod only\n +tier: private # both\n/,
    );
    expect(out).toContain("id: sg-1 # by hand");
    expect(out).toMatch(/# ours\n[^#]*name: golden-\* # weekly/);
    expect(out.match(/# prod only/g)).toHaveLength(1);
  });
});

describe("01 §7.2 the hop limit", () => {
  it.each([
    ["", "httpPutResponseHopLimit: 2"],
    ["  metadataOptions: {httpTokens: optional}\n", "httpPutResponseHopLimit: 2"],
    ["  metadataOptions: {httpPutResponseHopLimit: 5}\n", "httpPutResponseHopLimit: 5"],
  ])("01 §7.2 of a class with %j is kept", async (options, expected) => {
    const old = `apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: d}\n${spec}  amiFamily: AL2023\n${options}`;
    expect(await convertedText(old)).toContain(expected);
  });
});
