import { describe, expect, it } from "vitest";
import { awsLabels, kwokLabels, labels } from "../api/labels.ts";
import { Quantity } from "../util/quantity.ts";
import {
  allocatableOf,
  type InstanceType,
  noOverhead,
  type Offering,
  offeringCapacityType,
  offeringGroups,
  offeringReservationId,
  offeringZone,
} from "./instance-type.ts";
import { Requirement } from "./requirement.ts";
import { Requirements } from "./requirements.ts";
import type { Resources } from "./resources.ts";

function list(amounts: Readonly<Record<string, string>>): Resources {
  return Object.fromEntries(Object.entries(amounts).map(([name, text]) => [name, Quantity.parse(text)]));
}

const texts = (resources: Resources) =>
  Object.fromEntries(Object.entries(resources).map(([name, quantity]) => [name, quantity.toString()]));

const offering = (over: Partial<Offering> = {}): Offering => ({
  requirements: Requirements.none,
  price: 1,
  available: true,
  ...over,
});

const type = (over: Partial<InstanceType> = {}): InstanceType => ({
  name: "t",
  requirements: Requirements.none,
  offerings: [],
  capacity: list({ cpu: "4", memory: "16Gi", pods: "110" }),
  overhead: { ...noOverhead, kubeReserved: list({ cpu: "100m", memory: "1Gi" }) },
  ...over,
});

describe("02:A-11 allocatable", () => {
  it("is capacity less all three reserves, names of capacity only", () => {
    const overhead = {
      kubeReserved: list({ cpu: "100m", memory: "1Gi", pid: "100" }),
      systemReserved: list({ cpu: "200m" }),
      evictionThreshold: list({ memory: "100Mi" }),
    };
    expect(texts(allocatableOf(type({ overhead })))).toEqual({ cpu: "3700m", memory: "15260Mi", pods: "110" });
  });

  it("takes every size of huge pages out of memory, down to zero", () => {
    const capacity = list({ cpu: "4", memory: "16Gi", "hugepages-2Mi": "2Gi", "hugepages-1Gi": "3Gi" });
    expect(texts(allocatableOf(type({ capacity })))).toMatchObject({ memory: "10Gi", "hugepages-2Mi": "2Gi" });
    const full = list({ memory: "16Gi", "hugepages-2Mi": "15Gi", "hugepages-1Gi": "15Gi" });
    expect(texts(allocatableOf(type({ capacity: full })))).toMatchObject({ memory: "0" });
  });
});

describe("02:A-12 offering groups", () => {
  it("without overrides there is one group, of the available offerings", () => {
    const open = offering();
    const [group, ...rest] = offeringGroups(type({ offerings: [open, offering({ available: false })] }));
    expect(rest).toEqual([]);
    expect(group?.offerings).toEqual([open]);
    expect(texts(group?.allocatable ?? {})).toEqual({ cpu: "3900m", memory: "15Gi", pods: "110" });
  });

  it("overrides replace single amounts, and equal ones share a group", () => {
    const slots = (count: string): Partial<Offering> => ({
      capacityOverride: list({ "example.com/slots": count }),
      overheadOverride: { systemReserved: list({ memory: "3Gi" }) },
    });
    const cpu = { overheadOverride: { kubeReserved: list({ cpu: "1" }) } };
    const offerings = [offering(slots("12")), offering(cpu), offering(slots("12000m")), offering(slots("13"))];
    const groups = offeringGroups(type({ offerings }));
    expect(groups.map((group) => group.offerings.map((one) => offerings.indexOf(one)))).toEqual([[], [0, 2], [1], [3]]);
    expect(groups.map((group) => texts(group.allocatable))).toEqual([
      { cpu: "3900m", memory: "15Gi", pods: "110" },
      { cpu: "3900m", memory: "12Gi", pods: "110", "example.com/slots": "12" },
      { cpu: "3", memory: "15Gi", pods: "110" },
      { cpu: "3900m", memory: "12Gi", pods: "110", "example.com/slots": "13" },
    ]);
  });
});

it("02:C-2, C-3 an offering names its zone, capacity type and reservation", () => {
  const of = (...requirements: Requirement[]) => offering({ requirements: Requirements.of(...requirements) });
  const reserved = of(
    Requirement.in(labels.zone, ["a"]),
    Requirement.in(labels.capacityType, ["reserved"]),
    Requirement.in(kwokLabels.reservationId, ["cr-1"]),
    Requirement.doesNotExist(awsLabels.capacityReservationId),
  );
  expect([offeringZone(reserved), offeringCapacityType(reserved), offeringReservationId(reserved)]).toEqual([
    "a",
    "reserved",
    "cr-1",
  ]);
  expect(offeringReservationId(of(Requirement.in(awsLabels.capacityReservationId, ["cr-2"])))).toBe("cr-2");
  expect([offeringZone(of()), offeringCapacityType(of()), offeringReservationId(of())]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
