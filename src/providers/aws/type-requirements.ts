import { awsLabels, awsZoneId, labels } from "../../api/labels.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { amiFamilyTraits } from "./ami-families.ts";
import type { Ec2InstanceTypeInfo } from "./instance-type-info.ts";
import type { NodeSettings } from "./node-settings.ts";
import type { Zone } from "./regions.ts";

/** Category and generation are the letters and the digits a name begins with: `u-6tb1` is u, 1. (04 §2.2) */
const namePattern = /^([a-z]+)(-[0-9]+tb)?([0-9]+).*\./;

const tenancies = ["default", "dedicated"];

export interface TypeRequirementsContext {
  /** Its name. */
  readonly region: string;
  readonly settings: NodeSettings;
  /** Zones this type is offered in and nodes can be in. */
  readonly zones: readonly Zone[];
  readonly interner: RequirementInterner;
  /** Reservations of this type that the node class may use. */
  readonly reservations?: readonly TypeReservation[] | undefined;
  readonly placementGroup?: TypePlacementGroup | undefined;
}

interface TypeReservation {
  readonly id: string;
  readonly reservationType: string;
  readonly interruptible?: boolean | undefined;
}

/** A placement group, as far as offerings depend on it. */
export interface TypePlacementGroup {
  readonly id: string;
  readonly strategy: string;
  readonly partitionCount?: number | undefined;
}

/** Returns one shared Requirement per key and values: most labels have few values, and there are hundreds of types. */
export class RequirementInterner {
  /** By key, then by value: most have one. */
  readonly #byValue = new Map<string, Map<string, Requirement>>();
  readonly #byText = new Map<string, Requirement>();

  in(key: string, values: readonly string[]): Requirement {
    if (values.length === 1) return this.#ofOne(key, values[0] ?? "");
    const text = `${key} ${values.length} ${values.join(" ")}`;
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    const requirement = Requirement.in(key, values);
    this.#byText.set(text, requirement);
    return requirement;
  }

  #ofOne(key: string, value: string): Requirement {
    let ofKey = this.#byValue.get(key);
    if (ofKey === undefined) {
      ofKey = new Map();
      this.#byValue.set(key, ofKey);
    }
    const known = ofKey.get(value);
    if (known !== undefined) return known;
    const requirement = Requirement.in(key, [value]);
    ofKey.set(value, requirement);
    return requirement;
  }

  /** The label with its value, or the requirement that it is absent. */
  valueOrAbsent(key: string, value: string | number | undefined): Requirement {
    return this.in(key, value === undefined ? [] : [String(value)]);
  }
}

/** Every label a node of this type can have; labels it cannot have are required to be absent. (04 §2.2, 02:C-1) */
export function typeRequirements(typeInfo: Ec2InstanceTypeInfo, context: TypeRequirementsContext): Requirements {
  const { interner } = context;
  return Requirements.of(
    interner.in(labels.instanceType, [typeInfo.name]),
    ...locationRequirements(typeInfo, context),
    ...nameRequirements(typeInfo, interner),
    ...hardwareRequirements(typeInfo, interner),
    ...acceleratorRequirements(typeInfo, interner),
    ...launchRequirements(context),
  );
}

function locationRequirements(
  { arch, usageClasses }: Ec2InstanceTypeInfo,
  { region, settings, zones, interner, reservations = [] }: TypeRequirementsContext,
): Requirement[] {
  const { windowsBuild } = amiFamilyTraits[settings.amiFamily];
  const windows = arch === "amd64" ? ["windows"] : [];
  return [
    interner.in(labels.arch, [arch]),
    interner.in(labels.os, windowsBuild === undefined ? ["linux"] : windows),
    interner.in(
      labels.zone,
      zones.map(({ name }) => name),
    ),
    interner.in(
      awsZoneId,
      zones.flatMap(({ id }) => (id === undefined ? [] : [id])),
    ),
    interner.in(labels.region, [region]),
    interner.valueOrAbsent(labels.windowsBuild, windowsBuild),
    interner.in(labels.capacityType, reservations.length > 0 ? [...usageClasses, "reserved"] : usageClasses),
  ];
}

function nameRequirements(
  { name, familyName, size }: Ec2InstanceTypeInfo,
  interner: RequirementInterner,
): Requirement[] {
  const match = namePattern.exec(name);
  return [
    interner.valueOrAbsent(awsLabels.instanceCategory, match?.[1]),
    interner.valueOrAbsent(awsLabels.instanceGeneration, match?.[3]),
    interner.in(awsLabels.instanceFamily, [familyName]),
    interner.in(awsLabels.instanceSize, [size]),
    interner.in(awsLabels.instanceCapabilityFlex, [String(familyName.includes("-flex"))]),
  ];
}

function hardwareRequirements(typeInfo: Ec2InstanceTypeInfo, interner: RequirementInterner): Requirement[] {
  return [
    interner.valueOrAbsent(awsLabels.instanceCpu, typeInfo.vcpu),
    interner.valueOrAbsent(awsLabels.instanceCpuManufacturer, typeInfo.cpuManufacturer),
    interner.valueOrAbsent(awsLabels.instanceCpuClockMhz, typeInfo.clockMhz),
    interner.valueOrAbsent(awsLabels.instanceMemory, typeInfo.memoryMiB),
    interner.valueOrAbsent(awsLabels.instanceEbsBandwidth, positive(typeInfo.ebsMbps)),
    interner.valueOrAbsent(awsLabels.instanceNetworkBandwidth, positive(typeInfo.networkMbps)),
    interner.valueOrAbsent(awsLabels.instanceLocalNvme, positive(typeInfo.nvmeGB)),
    interner.in(awsLabels.instanceHypervisor, [typeInfo.hypervisor]),
    interner.in(awsLabels.instanceEncryptionInTransit, [String(typeInfo.encryptsInTransit)]),
    // The embedded data does not say which types have enclaves.
    interner.valueOrAbsent(awsLabels.nitroSandbox, textOf(typeInfo.nitroSandbox)),
  ];
}

function acceleratorRequirements(
  { gpus, neuronDevices, inferenceAccelerators }: Ec2InstanceTypeInfo,
  interner: RequirementInterner,
): Requirement[] {
  const gpu = onlyOne(gpus);
  const accelerator = onlyOne(neuronDevices.length > 0 ? neuronDevices : inferenceAccelerators);
  return [
    interner.valueOrAbsent(awsLabels.instanceGpuName, gpu?.name),
    interner.valueOrAbsent(awsLabels.instanceGpuManufacturer, gpu?.manufacturer),
    interner.valueOrAbsent(awsLabels.instanceGpuCount, gpu?.count),
    interner.valueOrAbsent(awsLabels.instanceGpuMemory, gpu?.memoryMiB),
    interner.valueOrAbsent(awsLabels.instanceAcceleratorName, accelerator?.name),
    interner.valueOrAbsent(awsLabels.instanceAcceleratorManufacturer, accelerator?.manufacturer),
    interner.valueOrAbsent(awsLabels.instanceAcceleratorCount, accelerator?.count),
  ];
}

/** Labels have one value: of several kinds of devices none is named. (04 §2.2) */
function onlyOne<T>(devices: readonly T[]): T | undefined {
  return devices.length === 1 ? devices[0] : undefined;
}

function textOf(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** Labels decided at launch: any tenancy, and the reservations and placement group of the node class, if it has any. */
function launchRequirements({ interner, reservations = [], placementGroup }: TypeRequirementsContext): Requirement[] {
  const partitions = placementGroup?.strategy === "partition" ? (placementGroup.partitionCount ?? 0) : 0;
  const reservationValues = (read: (one: TypeReservation) => string) => [...new Set(reservations.map(read))].sort();
  return [
    interner.in(awsLabels.instanceTenancy, tenancies),
    interner.in(
      awsLabels.capacityReservationId,
      reservationValues(({ id }) => id),
    ),
    interner.in(
      awsLabels.capacityReservationType,
      reservationValues(({ reservationType }) => reservationType),
    ),
    interner.in(
      awsLabels.capacityReservationInterruptible,
      reservationValues(({ interruptible }) => String(interruptible ?? false)),
    ),
    interner.valueOrAbsent(awsLabels.placementGroupId, placementGroup?.id),
    interner.in(
      awsLabels.placementGroupPartition,
      Array.from({ length: partitions }, (_, index) => String(index + 1)),
    ),
  ];
}

/** The requirements of offerings without a reservation. (04 §2.5) */
export function reservationRequirements(interner: RequirementInterner): Requirement[] {
  return [
    interner.valueOrAbsent(awsLabels.capacityReservationId, undefined),
    interner.valueOrAbsent(awsLabels.capacityReservationType, undefined),
    interner.valueOrAbsent(awsLabels.capacityReservationInterruptible, undefined),
  ];
}

function positive(value: number): number | undefined {
  return value > 0 ? value : undefined;
}
