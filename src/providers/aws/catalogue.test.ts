import { describe, expect, it } from "vitest";
import { labelPolicy } from "../../api/label-policy.ts";
import { awsLabels, labels } from "../../api/labels.ts";
import {
  type InstanceType,
  type Offering,
  offeringCapacityType,
  offeringReservationId,
  offeringZone,
} from "../../core/instance-type.ts";
import { isEstimated } from "../../core/price-source.ts";
import { type Ec2CatalogueOptions, ec2InstanceTypes, isRetired } from "./catalogue.ts";
import { ec2InstanceTypeInfos } from "./instance-type-info.ts";
import { defaultSpotFraction } from "./prices.ts";

function types(options: Ec2CatalogueOptions = {}): readonly InstanceType[] {
  const result = ec2InstanceTypes(options);
  if ("types" in result) return result.types;
  throw new Error(result.problem.message);
}

function type(name: string, options: Ec2CatalogueOptions = {}): InstanceType {
  const family = (familyName: string) => name.startsWith(`${familyName}.`);
  const found = types({ includeRetired: true, family, ...options }).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no type ${name}`);
  return found;
}

const places = (offerings: readonly Offering[]) =>
  offerings.map((offering) => `${offeringZone(offering)} ${offeringCapacityType(offering)}`);
const available = (one: InstanceType) => places(one.offerings.filter((offering) => offering.available));

describe("04 §8 the embedded catalogue", () => {
  it("has 885 types of 111 families, three of them retired and left out by default", () => {
    expect(ec2InstanceTypeInfos()).toHaveLength(885);
    expect(new Set(ec2InstanceTypeInfos().map(({ familyName }) => familyName)).size).toBe(111);
    expect(types()).toHaveLength(882);
    expect(types({ includeRetired: true })).toHaveLength(885);
    expect(
      ec2InstanceTypeInfos()
        .filter(({ name }) => isRetired(name))
        .map(({ name }) => name),
    ).toEqual(["p3.2xlarge", "p3.8xlarge", "p3.16xlarge"]);
  });

  it("04 §2.2 retired types are offered in every zone if they are included", () => {
    expect(available(type("p3.2xlarge"))).toHaveLength(8);
    expect(available(type("p3.2xlarge", { region: "us-east-1" }))).toHaveLength(12);
  });

  it("builds only the requested families", () => {
    const sizes = types({ family: (name) => name === "m5a" }).map(({ name }) => name);
    expect(sizes).toHaveLength(8);
    expect(sizes.every((name) => name.startsWith("m5a."))).toBe(true);
  });

  it("refuses a region it has no figures for, and names those it has", () => {
    for (const region of ["eu-west-1", "toString"]) {
      expect(ec2InstanceTypes({ region })).toEqual({
        problem: {
          code: "unknown-value",
          path: ["region"],
          message: `no instance types are known offline for region "${region}"`,
          expected: "us-east-1 or us-west-2",
        },
      });
    }
  });

  it("plans for other regions of AWS as if they were us-east-1, at estimated prices, if zones are given", () => {
    const one = type("m5.large", { region: "eu-west-1", seenZones: ["eu-west-1f", "eu-west-2d", "other"] });
    expect(new Set(available(one).map((place) => place.split(" ")[0]))).toEqual(
      new Set(["eu-west-1a", "eu-west-1b", "eu-west-1c", "eu-west-1f"]),
    );
    expect(one.offerings.map(({ priceSource }) => isEstimated(priceSource))).toEqual(Array(8).fill(true));
    expect(String(one.offerings[0]?.requirements)).toContain("euw1-az1");
    expect(ec2InstanceTypes({ region: "eu-west-9", seenZones: [] })).toMatchObject({
      problem: { expected: expect.stringContaining("eu-west-2, eu-west-3") },
    });
  });

  it("refuses a zone the region does not have", () => {
    const result = ec2InstanceTypes({ zones: ["us-west-2a", "us-east-1a"] });
    expect("problem" in result && result.problem).toMatchObject({ code: "unknown-value", path: ["zones", 1] });
  });
});

describe("04 §2.2 requirements", () => {
  it("m5.large in us-west-2", () => {
    expect(String(type("m5.large").requirements).split(", ")).toEqual([
      "karpenter.k8s.aws/capacity-reservation-id DoesNotExist",
      "karpenter.k8s.aws/capacity-reservation-interruptible DoesNotExist",
      "karpenter.k8s.aws/capacity-reservation-type DoesNotExist",
      "karpenter.k8s.aws/instance-accelerator-count DoesNotExist",
      "karpenter.k8s.aws/instance-accelerator-manufacturer DoesNotExist",
      "karpenter.k8s.aws/instance-accelerator-name DoesNotExist",
      "karpenter.k8s.aws/instance-capability-flex In [false]",
      "karpenter.k8s.aws/instance-category In [m]",
      "karpenter.k8s.aws/instance-cpu In [2]",
      "karpenter.k8s.aws/instance-cpu-manufacturer In [intel]",
      "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz In [3100]",
      "karpenter.k8s.aws/instance-ebs-bandwidth In [4750]",
      "karpenter.k8s.aws/instance-encryption-in-transit-supported In [false]",
      "karpenter.k8s.aws/instance-family In [m5]",
      "karpenter.k8s.aws/instance-generation In [5]",
      "karpenter.k8s.aws/instance-gpu-count DoesNotExist",
      "karpenter.k8s.aws/instance-gpu-manufacturer DoesNotExist",
      "karpenter.k8s.aws/instance-gpu-memory DoesNotExist",
      "karpenter.k8s.aws/instance-gpu-name DoesNotExist",
      "karpenter.k8s.aws/instance-hypervisor In [nitro]",
      "karpenter.k8s.aws/instance-local-nvme DoesNotExist",
      "karpenter.k8s.aws/instance-memory In [8192]",
      "karpenter.k8s.aws/instance-network-bandwidth In [750]",
      "karpenter.k8s.aws/instance-size In [large]",
      "karpenter.k8s.aws/instance-tenancy In [dedicated default]",
      "karpenter.k8s.aws/nitro-sandbox DoesNotExist",
      "karpenter.k8s.aws/placement-group-id DoesNotExist",
      "karpenter.k8s.aws/placement-group-partition DoesNotExist",
      "karpenter.sh/capacity-type In [on-demand spot]",
      "kubernetes.io/arch In [amd64]",
      "kubernetes.io/os In [linux]",
      "node.kubernetes.io/instance-type In [m5.large]",
      "node.kubernetes.io/windows-build DoesNotExist",
      "topology.k8s.aws/zone-id In [usw2-az1 usw2-az2 usw2-az3 usw2-az4]",
      "topology.kubernetes.io/region In [us-west-2]",
      "topology.kubernetes.io/zone In [us-west-2a us-west-2b us-west-2c us-west-2d]",
    ]);
  });

  it("02:C-1 every type defines every well-known label, but the pool's", () => {
    const wellKnown = [...labelPolicy("aws").wellKnown].filter((label) => label !== labels.nodePool).sort();
    for (const one of types({ includeRetired: true }))
      expect(one.requirements.sortedKeys(), one.name).toEqual(wellKnown);
  });

  it.each<[string, keyof typeof awsLabels, string | undefined]>([
    ["inf2.xlarge", "instanceCategory", "inf"],
    ["p6-b200.48xlarge", "instanceGeneration", "6"],
    ["m7i-flex.large", "instanceCapabilityFlex", "true"],
    ["m7i-flex.large", "instanceFamily", "m7i-flex"],
    ["m5d.large", "instanceLocalNvme", "75"],
    ["m5.metal", "instanceHypervisor", ""],
    ["t2.micro", "instanceHypervisor", "xen"],
    ["m6i.large", "instanceEncryptionInTransit", "true"],
    ["g5.12xlarge", "instanceGpuName", "a10g"],
    ["g5.12xlarge", "instanceGpuCount", "4"],
    ["g5.12xlarge", "instanceGpuManufacturer", "nvidia"],
    ["g5.12xlarge", "instanceGpuMemory", "22888"],
    ["g5.12xlarge", "instanceAcceleratorName", undefined],
    ["inf1.6xlarge", "instanceAcceleratorName", "inferentia"],
    ["inf1.6xlarge", "instanceAcceleratorManufacturer", "aws"],
    ["inf1.6xlarge", "instanceAcceleratorCount", "4"],
    ["inf1.6xlarge", "instanceGpuCount", undefined],
    ["dl2q.24xlarge", "instanceAcceleratorName", "qualcomm-ai100"],
  ])("%s %s is %j", (name, label, value) => {
    const requirement = type(name).requirements.get(awsLabels[label]);
    expect(requirement.singleValue).toBe(value);
    if (value === undefined) expect(requirement.operator).toBe("DoesNotExist");
  });

  it("windows runs on amd64 alone", () => {
    const options = { amiFamily: "Windows2022" } as const;
    expect(type("m5.large", options).requirements.get(labels.os).singleValue).toBe("windows");
    expect(type("m5.large", options).requirements.get(labels.windowsBuild).singleValue).toBe("10.0.20348");
    expect(type("m7g.large", options).requirements.get(labels.os).operator).toBe("DoesNotExist");
  });
});

describe("04 §2.5 offerings", () => {
  it("are every zone of the region, on demand and on spot, not reserved", () => {
    const { offerings } = type("m5.large", { region: "us-east-1" });
    expect(places(offerings)).toEqual(
      [..."abcdef"].flatMap((letter) => [`us-east-1${letter} on-demand`, `us-east-1${letter} spot`]),
    );
    expect(String(offerings[0]?.requirements)).toBe(
      "karpenter.k8s.aws/capacity-reservation-id DoesNotExist, " +
        "karpenter.k8s.aws/capacity-reservation-interruptible DoesNotExist, " +
        "karpenter.k8s.aws/capacity-reservation-type DoesNotExist, karpenter.sh/capacity-type In [on-demand], " +
        "topology.k8s.aws/zone-id In [use1-az1], topology.kubernetes.io/zone In [us-east-1a]",
    );
    expect(offerings.map(offeringReservationId).filter((id) => id !== undefined)).toEqual([]);
  });

  it("are available where the type is offered", () => {
    const east = available(type("m5.large", { region: "us-east-1" }));
    expect(east).toHaveLength(10);
    expect(east.filter((place) => place.startsWith("us-east-1c"))).toEqual([]);
    expect(available(type("trn2.48xlarge"))).toEqual([]);
    expect(type("trn2.48xlarge").requirements.get(labels.zone).operator).toBe("DoesNotExist");
  });

  it("are available only in zones nodes can be in, and only there is the zone id known", () => {
    const { offerings, requirements } = type("m5.large", { zones: ["us-west-2b"] });
    expect(offerings).toHaveLength(8);
    expect(available(type("m5.large", { zones: ["us-west-2b"] }))).toEqual(["us-west-2b on-demand", "us-west-2b spot"]);
    expect(offerings.filter((offering) => offering.requirements.has("topology.k8s.aws/zone-id"))).toHaveLength(2);
    expect(requirements.get(labels.zone).singleValue).toBe("us-west-2b");
    expect(available(type("m5.large", { zones: [] }))).toEqual([]);
  });

  it("04 §2.5 without a price nothing is available", () => {
    const { offerings } = type("dl2q.24xlarge");
    expect(available(type("dl2q.24xlarge"))).toEqual([]);
    expect(new Set(offerings.map(({ price }) => price))).toEqual(new Set([0]));
  });

  it("AL2023 does not run on a1", () => {
    expect(available(type("a1.large"))).toEqual([]);
    expect(available(type("a1.large", { amiFamily: "Bottlerocket" })).length).toBeGreaterThan(0);
  });

  it("network interfaces must exist", () => {
    const first = { networkCardIndex: 0, deviceIndex: 0, interfaceType: "interface" } as const;
    const withNic = (networkCardIndex: number, deviceIndex: number, interfaceType: "interface" | "efa-only") => ({
      networkInterfaces: [first, { networkCardIndex, deviceIndex, interfaceType }],
    });
    const isAvailable = (name: string, options: Ec2CatalogueOptions) => available(type(name, options)).length > 0;
    expect(isAvailable("m5.large", withNic(0, 2, "interface"))).toBe(true);
    expect(isAvailable("m5.large", withNic(0, 3, "interface"))).toBe(false);
    expect(isAvailable("m5.large", withNic(1, 1, "interface"))).toBe(false);
    expect(isAvailable("m5.large", withNic(0, 1, "efa-only"))).toBe(false);
    expect(isAvailable("p5.48xlarge", withNic(31, 1, "efa-only"))).toBe(true);
    expect(isAvailable("p5.48xlarge", withNic(32, 1, "efa-only"))).toBe(false);
  });

  it("connection tracking needs nitro", () => {
    const isAvailable = (name: string) => available(type(name, { tracksConnections: true })).length > 0;
    expect(["m5.large", "m5.metal", "t2.micro"].map(isAvailable)).toEqual([true, false, false]);
  });
});

describe("04 §2.6, §8 prices", () => {
  const price = (name: string, kind: string, options?: Ec2CatalogueOptions) =>
    type(name, options).offerings.find((offering) => offeringCapacityType(offering) === kind)?.price;

  it("on demand is the listed price, spot the family's fraction of it by region", () => {
    expect(price("m5.large", "on-demand")).toBe(0.096);
    expect(price("m5.large", "spot")).toBe(0.096 * 0.4);
    expect(price("m5.large", "spot", { region: "us-east-1" })).toBe(0.096 * 0.36);
    expect(price("p4de.24xlarge", "spot")).toBe((price("p4de.24xlarge", "on-demand") ?? 0) * defaultSpotFraction);
  });

  it("each says where it comes from: the list of a day and region, or an estimate", () => {
    const source = (name: string, kind: string, region: string) =>
      type(name, { region }).offerings.find((offering) => offeringCapacityType(offering) === kind)?.priceSource;
    const list = { kind: "list", region: "us-east-1", date: "2026-07-20" };
    expect(source("m5.large", "on-demand", "us-east-1")).toEqual(list);
    expect(source("m5.metal", "on-demand", "us-east-1")).toEqual(list);
    expect(source("m5.large", "on-demand", "us-west-2")).toEqual({ ...list, region: "us-west-2", date: "2026-08-22" });
    expect(source("m5.metal", "on-demand", "us-west-2")).toEqual({ ...list, kind: "estimate", basis: "other-region" });
    expect(source("m5.large", "spot", "us-west-2")).toEqual({
      kind: "estimate",
      basis: "spot-share",
      region: "us-west-2",
      date: "2026-08-22",
    });
  });

  it("live prices replace them, by zone on spot", () => {
    const prices = {
      onDemand: () => 2,
      spot: (_: unknown, zoneName: string) => (zoneName === "us-west-2b" ? 0.5 : undefined),
    };
    const one = type("m5.large", { prices });
    expect(available(one).filter((place) => place.endsWith("spot"))).toEqual(["us-west-2b spot"]);
    expect(one.offerings.map((offering) => offering.price)).toEqual([2, 0, 2, 0.5, 2, 0, 2, 0]);
  });

  it("the default fraction is the median of those recorded", () => {
    const families = new Map(ec2InstanceTypeInfos().map((one) => [one.familyName, one.spotFractions]));
    const fractions = [...families.values()].flatMap((spot = {}) => Object.values(spot)).sort((a, b) => a - b);
    expect(fractions[Math.floor(fractions.length / 2)]).toBe(defaultSpotFraction);
  });
});
