import { describe, expect, it } from "vitest";
import { convertText, manifestText } from "./convert-text.ts";

describe("manifests of an old installation through karpenter convert", () => {
  it("01 §7.6 a Provisioner with its AWSNodeTemplate becomes a NodePool and an EC2NodeClass", async () => {
    const { objects, code, err } = await convertText(manifestText("provisioner"));
    expect(code).toBe(0);
    expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      "karpenter.sh/v1 NodePool",
      "karpenter.k8s.aws/v1 EC2NodeClass",
    ]);
    expect(objects[1]).toMatchObject({
      spec: {
        amiSelectorTerms: [{ alias: "bottlerocket@latest" }],
        instanceProfile: "KarpenterNodeInstanceProfile",
        kubelet: { maxPods: 20 },
        tags: { team: "platform" },
      },
    });
    expect(err).not.toMatch(/error/);
  });

  it("01 §7.8 one with its own launch template is refused, and says what to write instead", async () => {
    const { objects, code, err } = await convertText(manifestText("launch-template"));
    expect([code, objects]).toEqual([1, []]);
    expect(err).toContain(
      "old.yaml:6:3: error: spec.launchTemplate: v1 creates its own launch templates; a custom launch template cannot be converted" +
        " (expected: its settings as fields: amiSelector, userData, blockDeviceMappings, securityGroupSelector) [not-convertible]",
    );
  });
});
