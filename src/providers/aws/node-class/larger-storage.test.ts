import { describe, expect, it } from "vitest";
import type { Ec2NodeClass } from "../../../api/kinds/ec2-node-class.ts";
import { resources } from "../../../api/labels.ts";
import { applyOperations } from "../../../core/explain/json-patch.ts";
import { allocatableOf, type InstanceType } from "../../../core/instance-type.ts";
import { amountOf } from "../../../core/resources.ts";
import { Quantity } from "../../../util/quantity.ts";
import { ec2InstanceTypes } from "../catalogue.ts";
import { nodeSettingsOf } from "../node-class-settings.ts";
import { largerStorage } from "./larger-storage.ts";

function typesOf(nodeClass: Ec2NodeClass): readonly InstanceType[] {
  const made = ec2InstanceTypes({ ...nodeSettingsOf(nodeClass), region: "us-west-2" });
  return "types" in made ? made.types.filter(({ name }) => name === "m5.large" || name === "m5d.large") : [];
}

function classOf(spec: object): Ec2NodeClass {
  const amiSelectorTerms = [{ alias: "al2023@latest" }];
  return { metadata: { name: "default" }, spec: { amiSelectorTerms, ...spec } } as unknown as Ec2NodeClass;
}

const volume = (deviceName: string, volumeSize: string, more: object = {}) => ({
  deviceName,
  ebs: { volumeSize },
  ...more,
});
const needed = Quantity.parse("60Gi");

describe("a node class with more ephemeral storage", () => {
  it.each([
    ["the family's own volume", {}, "/spec/blockDeviceMappings", "/dev/xvda"],
    [
      "a volume that is written",
      { blockDeviceMappings: [volume("/dev/xvda", "20Gi")] },
      "/spec/blockDeviceMappings/0/ebs/volumeSize",
      "/dev/xvda",
    ],
    [
      "the root volume, before that of the family",
      { blockDeviceMappings: [volume("/dev/xvda", "20Gi"), volume("/dev/sda1", "8Gi", { rootVolume: true })] },
      "/spec/blockDeviceMappings/1/ebs/volumeSize",
      "/dev/sda1",
    ],
    [
      "Bottlerocket's volume for data, beside that of the system",
      { amiSelectorTerms: [{ alias: "bottlerocket@latest" }] },
      "/spec/blockDeviceMappings",
      "/dev/xvdb",
    ],
    [
      "Bottlerocket's volume for data where only the other is written",
      { amiSelectorTerms: [{ alias: "bottlerocket@latest" }], blockDeviceMappings: [volume("/dev/xvda", "100Gi")] },
      "/spec/blockDeviceMappings/-",
      "/dev/xvdb",
    ],
    [
      "the last volume of a custom image",
      { amiFamily: "Custom", amiSelectorTerms: [{ id: "ami-1" }], blockDeviceMappings: [volume("/dev/sda1", "8Gi")] },
      "/spec/blockDeviceMappings/0/ebs/volumeSize",
      "/dev/sda1",
    ],
  ])("04 §2.3 enlarges %s", (_, spec, path, device) => {
    const nodeClass = classOf(spec);
    const found = largerStorage(nodeClass, needed, typesOf);
    expect(found?.operations.map((one) => one.path)).toEqual([path]);
    expect(found?.text).toContain(device);
    // What the edit makes of the class is enough, and is what the pool would launch.
    const changed = applyOperations(nodeClass, found?.operations ?? []);
    const [type] = typesOf(changed);
    expect(type && amountOf(allocatableOf(type), resources.ephemeralStorage).cmp(needed)).toBeGreaterThanOrEqual(0);
    expect(found?.instanceTypes.map(({ name, capacity }) => [name, capacity])).toEqual(
      typesOf(changed).map(({ name, capacity }) => [name, capacity]),
    );
  });

  it("04 §1.8 knows no volume of a custom image without one, and none larger than EBS has", () => {
    expect(largerStorage(classOf({ amiFamily: "Custom", amiSelectorTerms: [{ id: "ami-1" }] }), needed, typesOf)).toBe(
      undefined,
    );
    expect(largerStorage(classOf({}), Quantity.parse("20Ti"), typesOf)).toBe(undefined);
  });
});
