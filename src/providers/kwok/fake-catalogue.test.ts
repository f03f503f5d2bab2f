import { expect, it } from "vitest";
import { allocatableOf, offeringCapacityType, offeringZone } from "../../core/instance-type.ts";
import { fakeInstanceTypes } from "./fake-catalogue.ts";

const types = fakeInstanceTypes(400);

it("02 §10.2 type i has i+1 cpu, twice that in Gi, ten pods a cpu, less 100m and 10Mi", () => {
  expect(types).toHaveLength(400);
  const left = [0, 9, 399].map((index) => {
    const type = types[index];
    return [type?.name, ...Object.values(type === undefined ? {} : allocatableOf(type)).map(String)];
  });
  expect(left).toEqual([
    ["fake-it-0", "900m", "2038Mi", "10"],
    ["fake-it-9", "9900m", "20470Mi", "100"],
    ["fake-it-399", "399900m", "819190Mi", "4k"],
  ]);
});

it("02 §10.2 five offerings at one price", () => {
  for (const [index, type] of types.entries()) {
    expect(type.offerings.map((offering) => `${offeringCapacityType(offering)} ${offeringZone(offering)}`)).toEqual([
      "spot test-zone-1",
      "spot test-zone-2",
      "on-demand test-zone-1",
      "on-demand test-zone-2",
      "on-demand test-zone-3",
    ]);
    const price = 0.1 * (index + 1) + (0.1 * 2 * (index + 1) * 2 ** 30) / 1e9;
    for (const offering of type.offerings) expect(offering.price).toBeCloseTo(price, 12);
  }
});

it("02 §10.2 small up to four cpu, large and special beyond", () => {
  expect([3, 4].map((index) => String(types[index]?.requirements))).toEqual([
    "integer In [4], karpenter.sh/capacity-type In [on-demand spot], kubernetes.io/arch In [amd64], " +
      "kubernetes.io/os In [darwin linux windows], node.kubernetes.io/instance-type In [fake-it-3], size In [small], " +
      "special DoesNotExist, topology.kubernetes.io/zone In [test-zone-1 test-zone-2 test-zone-3]",
    "integer In [5], karpenter.sh/capacity-type In [on-demand spot], kubernetes.io/arch In [amd64], " +
      "kubernetes.io/os In [darwin linux windows], node.kubernetes.io/instance-type In [fake-it-4], size In [large], " +
      "special In [optional], topology.kubernetes.io/zone In [test-zone-1 test-zone-2 test-zone-3]",
  ]);
});

it("an empty catalogue is empty", () => {
  expect(fakeInstanceTypes(0)).toEqual([]);
});
