import { describe, expect, it } from "vitest";
import { resources } from "../../api/labels.ts";
import { allocatableOf, type InstanceType } from "../../core/instance-type.ts";
import { amountOf, type Resources } from "../../core/resources.ts";
import { type Ec2CatalogueOptions, ec2InstanceTypes } from "./catalogue.ts";

function type(name: string, options: Ec2CatalogueOptions = {}): InstanceType {
  const result = ec2InstanceTypes({
    ...options,
    family: (family) => name.startsWith(`${family}.`),
    includeRetired: true,
  });
  const found = "types" in result ? result.types.find((one) => one.name === name) : undefined;
  if (found === undefined) throw new Error(`no type ${name}`);
  return found;
}

const texts = (list: Resources) =>
  Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, quantity.toString()]));
const mebibytes = (list: Resources) => Number(amountOf(list, resources.memory).value()) / 2 ** 20;
const podsOf = (name: string, options?: Ec2CatalogueOptions) =>
  Number(amountOf(type(name, options).capacity, "pods").value());
const storageOf = (name: string, options?: Ec2CatalogueOptions) =>
  amountOf(type(name, options).capacity, resources.ephemeralStorage).toString();

describe("04 §2.4 test vectors", () => {
  it.each([
    ["t3.micro", 947, 548, 1930, 4],
    ["t3.medium", 3788, 3246, 1930, 17],
    ["m5.large", 7577, 6903, 1930, 29],
    ["m5.xlarge", 15155, 14162, 3920, 58],
    ["m7g.large", 7518, 6844, 1930, 29],
    ["c5.4xlarge", 30310, 27381, 15890, 234],
    ["r6i.2xlarge", 60620, 59627, 7910, 58],
    ["m5.24xlarge", 363724, 355262, 95690, 737],
    ["g5.xlarge", 15155, 14162, 3920, 58],
    ["p5.48xlarge", 1939865, 1938410, 191450, 100],
  ])("%s has %d Mi, of which %d Mi, %dm cpu and %d pods are left", (name, capacityMi, leftMi, cpuMilli, pods) => {
    const left = allocatableOf(type(name));
    expect(mebibytes(type(name).capacity)).toBe(capacityMi);
    expect(mebibytes(left)).toBe(leftMi);
    expect(amountOf(left, resources.cpu).milliValue()).toBe(BigInt(cpuMilli));
    expect(amountOf(left, resources.pods).value()).toBe(BigInt(pods));
  });
});

describe("04 §2.3 capacity", () => {
  it("writes a whole type", () => {
    expect(texts(type("m5.large").capacity)).toEqual({
      cpu: "2",
      memory: "7577Mi",
      "ephemeral-storage": "20Gi",
      pods: "29",
      "vpc.amazonaws.com/pod-eni": "9",
    });
  });

  it("memory loses what the hypervisor keeps", () => {
    expect(mebibytes(type("m5.large", { vmMemoryOverheadPercent: 0 }).capacity)).toBe(8192);
    expect(mebibytes(type("m7g.large", { vmMemoryOverheadPercent: 0 }).capacity)).toBe(8192 - 64);
    expect(mebibytes(type("m5.large", { vmMemoryOverheadPercent: 0.1 }).capacity)).toBe(8192 - 820);
  });

  it("counts devices by maker", () => {
    expect(texts(type("p3.16xlarge").capacity)).toMatchObject({ "nvidia.com/gpu": "8" });
    expect(texts(type("g4ad.8xlarge").capacity)).toMatchObject({ "amd.com/gpu": "2" });
    expect(texts(type("inf1.24xlarge").capacity)).toMatchObject({
      "aws.amazon.com/neuron": "16",
      "aws.amazon.com/neuroncore": "64",
      "vpc.amazonaws.com/efa": "1",
    });
    expect(Object.keys(type("dl2q.24xlarge").capacity).filter((name) => name.includes("gpu"))).toEqual([]);
    expect(Object.keys(type("t3.micro").capacity)).toEqual(["cpu", "memory", "ephemeral-storage", "pods"]);
  });

  it("pods: maxPods wins, else interfaces decide, less reserved ones and those without addresses", () => {
    const efaOnly = { networkCardIndex: 0, deviceIndex: 1, interfaceType: "efa-only" } as const;
    expect(podsOf("m5.large", { kubelet: { maxPods: 7 } })).toBe(7);
    expect(podsOf("m5.large", { kubelet: { maxPods: 0 } })).toBe(0);
    expect(podsOf("m5.large", { reservedEnis: 1 })).toBe(2 * 9 + 2);
    expect(podsOf("m5.large", { reservedEnis: 3 })).toBe(0);
    expect(podsOf("m5.large", { reservedEnis: 9 })).toBe(0);
    expect(podsOf("m6i.32xlarge", { networkInterfaces: [efaOnly] })).toBe(14 * 49 + 2);
    expect(podsOf("m5.large", { amiFamily: "Windows2022" })).toBe(110);
  });

  it("pods: podsPerCore caps where the family honours it", () => {
    expect(podsOf("m5.large", { kubelet: { podsPerCore: 4 } })).toBe(8);
    expect(podsOf("m5.large", { kubelet: { podsPerCore: 100 } })).toBe(29);
    expect(podsOf("m5.large", { kubelet: { podsPerCore: 0 } })).toBe(29);
    expect(podsOf("m5.large", { kubelet: { podsPerCore: 4, maxPods: 6 } })).toBe(6);
    expect(podsOf("m5.large", { kubelet: { podsPerCore: 4 }, amiFamily: "Bottlerocket" })).toBe(29);
    expect(podsOf("m5.large", { kubelet: { podsPerCore: 4 }, amiFamily: "Windows2019" })).toBe(8);
  });

  it("efa: as many as the node class asks for", () => {
    const nics = [0, 1].map((networkCardIndex) => ({
      networkCardIndex,
      deviceIndex: networkCardIndex === 0 ? 0 : 1,
      interfaceType: networkCardIndex === 0 ? ("interface" as const) : ("efa-only" as const),
    }));
    expect(texts(type("p5.48xlarge", { networkInterfaces: nics }).capacity)).toMatchObject({
      "vpc.amazonaws.com/efa": "1",
    });
    expect(texts(type("p5.48xlarge").capacity)).toMatchObject({ "vpc.amazonaws.com/efa": "32" });
  });

  it("windows nodes count the addresses of one interface", () => {
    const windows = texts(type("m5.large", { amiFamily: "Windows2022" }).capacity);
    expect(windows["vpc.amazonaws.com/PrivateIPv4Address"]).toBe("9");
  });

  it("ephemeral storage: local disks, root volume, the family's device, its default", () => {
    const xvda = { deviceName: "/dev/xvda", ebs: { volumeSize: "30Gi" } };
    const xvdb = { deviceName: "/dev/xvdb", ebs: { volumeSize: "40Gi" } };
    const root = { deviceName: "/dev/sdz", rootVolume: true, ebs: { volumeSize: "50Gi" } };
    expect(storageOf("m5d.large", { instanceStorePolicy: "RAID0", blockDeviceMappings: [root] })).toBe("75G");
    expect(storageOf("m5.large", { instanceStorePolicy: "RAID0", blockDeviceMappings: [root] })).toBe("50Gi");
    expect(storageOf("m5d.large", { blockDeviceMappings: [xvda, root] })).toBe("50Gi");
    expect(storageOf("m5.large", { blockDeviceMappings: [xvda, xvdb] })).toBe("30Gi");
    expect(storageOf("m5.large", { blockDeviceMappings: [xvda, xvdb], amiFamily: "Bottlerocket" })).toBe("40Gi");
    expect(storageOf("m5.large", { blockDeviceMappings: [xvda, xvdb], amiFamily: "Custom" })).toBe("40Gi");
    expect(storageOf("m5.large", { blockDeviceMappings: [xvdb] })).toBe("20Gi");
    expect(storageOf("m5.large", { amiFamily: "Windows2025" })).toBe("50Gi");
    expect(storageOf("m5.large", { amiFamily: "Custom" })).toBe("20Gi");
  });
});

describe("04 §2.4 overhead", () => {
  it("reserves cpu by brackets, memory by pods, a tenth of storage", () => {
    const { overhead } = type("c5.4xlarge");
    expect(texts(overhead.kubeReserved)).toEqual({ cpu: "110m", memory: "2829Mi", "ephemeral-storage": "1Gi" });
    expect(texts(overhead.evictionThreshold)).toEqual({ memory: "100Mi", "ephemeral-storage": "2Gi" });
    expect(overhead.systemReserved).toEqual({});
    expect(texts(type("t2.micro").overhead.kubeReserved)).toMatchObject({ cpu: "60m" });
  });

  it("04 §2.4 reserved interfaces do not lower the memory reserve, maxPods only where pods decide it", () => {
    const reserved = (options: Ec2CatalogueOptions) => mebibytes(type("m5.large", options).overhead.kubeReserved);
    expect(reserved({ reservedEnis: 2 })).toBe(11 * 29 + 255);
    expect(reserved({ kubelet: { maxPods: 110 } })).toBe(11 * 29 + 255);
    expect(reserved({ kubelet: { maxPods: 110 }, amiFamily: "Custom" })).toBe(11 * 29 + 255);
    expect(reserved({ kubelet: { maxPods: 110 }, amiFamily: "Bottlerocket" })).toBe(11 * 110 + 255);
    expect(reserved({ amiFamily: "Windows2022" })).toBe(11 * 110 + 255);
  });

  it("overrides replace single keys", () => {
    const kubelet = { kubeReserved: { cpu: "1", memory: "not a quantity" }, systemReserved: { memory: "1Gi" } };
    const { overhead } = type("m5.large", { kubelet });
    expect(texts(overhead.kubeReserved)).toEqual({ cpu: "1", memory: "574Mi", "ephemeral-storage": "1Gi" });
    expect(texts(overhead.systemReserved)).toEqual({ memory: "1Gi" });
    expect(mebibytes(allocatableOf(type("m5.large", { kubelet })))).toBe(6903 - 1024);
  });

  it("evictionHard is a quantity or a share; 100% turns it off", () => {
    const evicted = (evictionHard: Record<string, string>) =>
      texts(type("m5.large", { kubelet: { evictionHard } }).overhead.evictionThreshold);
    expect(evicted({ "memory.available": "500Mi", "nodefs.available": "5%" })).toEqual({
      memory: "500Mi",
      "ephemeral-storage": "1Gi",
    });
    expect(evicted({ "memory.available": "100%", "nodefs.available": "100%" })).toEqual({
      memory: "0",
      "ephemeral-storage": "0",
    });
    expect(evicted({ "memory.available": "3%" }).memory).toBe(String(Math.ceil(((7577 * 2 ** 20) / 100) * 3)));
    expect(evicted({ "memory.available": "much" })).toMatchObject({ memory: "100Mi" });
  });
});
