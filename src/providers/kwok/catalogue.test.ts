import { describe, expect, it } from "vitest";
import { isRestrictedLabel, labelPolicy } from "../../api/label-policy.ts";
import { kwokLabels, labels } from "../../api/labels.ts";
import { allocatableOf, type InstanceType, offeringCapacityType, offeringZone } from "../../core/instance-type.ts";
import type { Resources } from "../../core/resources.ts";
import { kwokInstanceTypes } from "./catalogue.ts";
import { withOfferingKeys } from "./kwok-instance-type.ts";

const types = kwokInstanceTypes();

function named(name: string): InstanceType {
  const type = types.find((one) => one.name === name);
  if (type === undefined) throw new Error(`no type ${name}`);
  return type;
}

const texts = (list: Resources) =>
  Object.fromEntries(Object.entries(list).map(([name, quantity]) => [name, quantity.toString()]));

describe("the KWOK catalogue", () => {
  it("02:K-1 has 144 types of 8 available offerings, 1152 in all", () => {
    expect(types).toHaveLength(144);
    expect(new Set(types.map(({ name }) => name)).size).toBe(144);
    const offerings = types.flatMap((type) => type.offerings);
    expect(offerings).toHaveLength(1152);
    expect(offerings.every(({ available }) => available)).toBe(true);
    const templates = ["a", "b", "c", "d"].flatMap((letter) => [
      `test-zone-${letter} spot`,
      `test-zone-${letter} on-demand`,
    ]);
    for (const type of types) {
      expect(type.offerings.map((offering) => `${offeringZone(offering)} ${offeringCapacityType(offering)}`)).toEqual(
        templates,
      );
    }
  });

  it("02:K-1 combines every cpu size, memory ratio, os and architecture", () => {
    const sizes = new Set(types.map((type) => type.requirements.get(kwokLabels.instanceCpu).singleValue));
    expect([...sizes].map(Number)).toEqual([1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256]);
  });

  it("02:K-2 names a type by family, cpu, architecture and os", () => {
    expect(types.slice(0, 5).map(({ name }) => name)).toEqual([
      "c-1x-amd64-linux",
      "c-1x-arm64-linux",
      "c-1x-amd64-windows",
      "c-1x-arm64-windows",
      "s-1x-amd64-linux",
    ]);
    expect(types.at(-1)?.name).toBe("m-256x-arm64-windows");
  });

  it("02:K-3 capacity follows from cpu and ratio, pods stop at 1024", () => {
    const storage = { "ephemeral-storage": "20Gi" };
    expect(texts(named("c-1x-amd64-linux").capacity)).toEqual({ cpu: "1", memory: "2Gi", pods: "16", ...storage });
    expect(texts(named("s-64x-arm64-linux").capacity)).toEqual({
      cpu: "64",
      memory: "256Gi",
      pods: "1024",
      ...storage,
    });
    expect(texts(named("m-256x-amd64-windows").capacity)).toEqual({
      cpu: "256",
      memory: "2Ti",
      pods: "1024",
      ...storage,
    });
  });

  it.each([
    ["c-1x-amd64-linux", 0.027147483648, 0.019003238553599998],
    ["s-2x-amd64-linux", 0.058589934592, 0.041012954214399995],
    ["m-4x-arm64-windows", 0.134359738368, 0.09405181685759999],
    ["c-48x-amd64-linux", 1.3030792151040003, 0.9121554505728001],
    ["m-256x-amd64-linux", 8.599023255552, 6.019316278886399],
  ])("02:K-3 %s costs %d on demand and %d on spot", (name, onDemand, spot) => {
    const prices = named(name).offerings.map((offering) => [offeringCapacityType(offering), offering.price]);
    expect(prices).toEqual(
      [0, 1, 2, 3].flatMap(() => [
        ["spot", spot],
        ["on-demand", onDemand],
      ]),
    );
  });

  it("02:K-5 labels every type", () => {
    expect(String(named("m-128x-arm64-windows").requirements)).toBe(
      [
        "karpenter.kwok.sh/instance-cpu In [128]",
        "karpenter.kwok.sh/instance-family In [m]",
        "karpenter.kwok.sh/instance-memory In [1Ti]",
        "karpenter.kwok.sh/instance-size In [128]",
        "karpenter.sh/capacity-type In [on-demand spot]",
        "kubernetes.io/arch In [arm64]",
        "kubernetes.io/os In [windows]",
        "node.kubernetes.io/instance-type In [m-128x-arm64-windows]",
        "topology.kubernetes.io/zone In [test-zone-a test-zone-b test-zone-c test-zone-d]",
      ].join(", "),
    );
  });

  it("02:K-5 its labels and every offering key are well-known, its domain is restricted", () => {
    const policy = labelPolicy("kwok");
    for (const label of named("c-1x-amd64-linux").requirements.keys()) expect(policy.wellKnown.has(label)).toBe(true);
    expect(isRestrictedLabel(policy, "karpenter.kwok.sh/other")).toBe(true);
    expect(withOfferingKeys({ ...policy, wellKnown: new Set() }, types).wellKnown).toEqual(
      new Set([labels.capacityType, labels.zone]),
    );
  });

  it("02:K-6 reserves 100m cpu and 10Mi memory", () => {
    expect(texts(allocatableOf(named("c-1x-amd64-linux")))).toEqual({
      cpu: "900m",
      memory: "2038Mi",
      pods: "16",
      "ephemeral-storage": "20Gi",
    });
  });
});
