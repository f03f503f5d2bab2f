import { describe, expect, it } from "vitest";
import type { Ec2NodeClass } from "../../api/kinds/ec2-node-class.ts";
import { amountOf } from "../../core/resources.ts";
import { ec2InstanceTypes } from "./catalogue.ts";
import { nodeSettingsOf } from "./node-class-settings.ts";

function typeWith(kubelet: object, { name = "m5.large", allowsExpressions = true } = {}) {
  const nodeClass = { spec: { amiFamily: "AL2023", kubelet } } as unknown as Ec2NodeClass;
  const result = ec2InstanceTypes(nodeSettingsOf(nodeClass, { allowsExpressions }));
  const type = "types" in result ? result.types.find((one) => one.name === name) : undefined;
  if (type === undefined) throw new Error(`no ${name}`);
  const { kubeReserved, systemReserved } = type.overhead;
  return {
    pods: amountOf(type.capacity, "pods").toNumber(),
    kube: (resource: string) => kubeReserved[resource]?.canonical(),
    system: (resource: string) => systemReserved[resource]?.canonical(),
  };
}

describe("kubelet expressions", () => {
  it.each([
    ["m5.large", 20],
    ["m5.xlarge", 40],
  ])("04 §1.10 maxPods is evaluated for %s", (name, pods) => {
    expect(typeWith({ maxPods: "vcpus * 10" }, { name }).pods).toBe(pods);
  });

  it("04 §1.10 max_pods is the default inside maxPods, and its result inside what is reserved", () => {
    const { pods, kube } = typeWith({ maxPods: "max_pods - 9", kubeReserved: { memory: "max_pods * 10" } });
    expect(pods).toBe(20);
    expect(kube("memory")).toBe("208Mi");
  });

  it("04 §1.10 cpu rounds up to 10m; plain values stay; a key that fails keeps its default", () => {
    const { kube, system } = typeWith({
      kubeReserved: { cpu: "vcpus * 30 + 1", memory: "vcpus - 10" },
      systemReserved: { cpu: "100m", memory: "memory_mib / 100" },
    });
    expect(kube("cpu")).toBe("70m");
    expect(kube("memory")).toBe(typeWith({}).kube("memory"));
    expect(system("cpu")).toBe("100m");
    expect(system("memory")).toBe("96Mi");
  });

  it("04 §1.10 without the gate expressions count as unset", () => {
    const off = { allowsExpressions: false };
    expect(typeWith({ maxPods: "vcpus * 10" }, off).pods).toBe(29);
    expect(typeWith({ kubeReserved: { cpu: "vcpus * 30" } }, off).kube("cpu")).toBe(typeWith({}).kube("cpu"));
  });
});
