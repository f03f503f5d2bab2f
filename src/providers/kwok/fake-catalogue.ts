import { labels, resources } from "../../api/labels.ts";
import type { InstanceType, Offering } from "../../core/instance-type.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { Quantity } from "../../util/quantity.ts";
import { kwokOverhead } from "./kwok-instance-type.ts";

/** Labels of the benchmark's types; they count as well-known when this catalogue is used. */
export const fakeLabels = { size: "size", special: "special", integer: "integer" } as const;

const fakeOfferings = [
  { zone: "test-zone-1", capacityType: "spot" },
  { zone: "test-zone-2", capacityType: "spot" },
  { zone: "test-zone-1", capacityType: "on-demand" },
  { zone: "test-zone-2", capacityType: "on-demand" },
  { zone: "test-zone-3", capacityType: "on-demand" },
];

/** The catalogue `fake:N` of upstream's scheduling benchmark: each type has one cpu more than the one before. (02 §10.2) */
export function fakeInstanceTypes(count: number): readonly InstanceType[] {
  const offeringRequirements = fakeOfferings.map(({ zone, capacityType }) =>
    Requirements.of(Requirement.in(labels.zone, [zone]), Requirement.in(labels.capacityType, [capacityType])),
  );
  return Array.from({ length: count }, (_, index) => fakeInstanceType(index, offeringRequirements));
}

function fakeInstanceType(index: number, offeringRequirements: readonly Requirements[]): InstanceType {
  const name = `fake-it-${index}`;
  const cpu = index + 1;
  const memoryBytes = 2 * cpu * 2 ** 30;
  // The same for all offerings, also spot. The order of operations decides the last bit.
  const price = 0.1 * cpu + (0.1 * memoryBytes) / 1e9;
  return {
    name,
    requirements: fakeRequirements(name, cpu),
    offerings: offeringRequirements.map((requirements): Offering => ({ requirements, price, available: true })),
    capacity: {
      [resources.cpu]: Quantity.of(cpu),
      [resources.memory]: Quantity.of(memoryBytes, "BinarySI"),
      [resources.pods]: Quantity.of(10 * cpu),
    },
    overhead: kwokOverhead,
  };
}

function fakeRequirements(name: string, cpu: number): Requirements {
  const isLarge = cpu > 4; // and so more than 8Gi
  return Requirements.of(
    Requirement.in(labels.instanceType, [name]),
    Requirement.in(labels.arch, ["amd64"]),
    Requirement.in(labels.os, ["linux", "windows", "darwin"]),
    Requirement.in(labels.zone, new Set(fakeOfferings.map(({ zone }) => zone))),
    Requirement.in(labels.capacityType, new Set(fakeOfferings.map(({ capacityType }) => capacityType))),
    Requirement.in(fakeLabels.size, [isLarge ? "large" : "small"]),
    isLarge ? Requirement.in(fakeLabels.special, ["optional"]) : Requirement.doesNotExist(fakeLabels.special),
    Requirement.in(fakeLabels.integer, [String(cpu)]),
  );
}
