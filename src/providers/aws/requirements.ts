import { awsLabels, awsZoneId, labels } from "../../api/labels.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { amiFamilyTraits } from "./ami-families.ts";
import type { Machine } from "./families.ts";
import type { NodeSettings } from "./node-settings.ts";
import type { Region, Zone } from "./regions.ts";

/** Category and generation are the letters and the digits a name begins with: `u-6tb1` is u, 1. (04 §2.2) */
const namePattern = /^([a-z]+)(-[0-9]+tb)?([0-9]+).*\./;

const tenancies = ["default", "dedicated"];

export interface TypeContext {
  readonly region: Region;
  readonly settings: NodeSettings;
  /** Zones this type is offered in and nodes can be in. */
  readonly zones: readonly Zone[];
  readonly pool: RequirementPool;
}

/** Hands out one requirement for one meaning: most labels have few values, and there are hundreds of types. */
export class RequirementPool {
  private readonly byText = new Map<string, Requirement>();

  in(key: string, values: readonly string[]): Requirement {
    const text = `${key} ${values.length} ${values.join(" ")}`; // a set of "" is not an empty one
    let requirement = this.byText.get(text);
    if (requirement === undefined) {
      requirement = Requirement.in(key, values);
      this.byText.set(text, requirement);
    }
    return requirement;
  }

  /** The label with its value, or none of it. */
  maybe(key: string, value: string | number | undefined): Requirement {
    return this.in(key, value === undefined ? [] : [String(value)]);
  }
}

/** Every label a node of this type can have; the ones it cannot have are ruled out. (04 §2.2, 02:C-1) */
export function typeRequirements(machine: Machine, context: TypeContext): Requirements {
  const { pool } = context;
  return Requirements.of(
    pool.in(labels.instanceType, [machine.name]),
    ...placeRequirements(machine, context),
    ...nameRequirements(machine, pool),
    ...machineRequirements(machine, pool),
    ...acceleratorRequirements(machine, pool),
    ...launchRequirements(pool),
  );
}

function placeRequirements({ family }: Machine, { region, settings, zones, pool }: TypeContext): Requirement[] {
  const { windowsBuild } = amiFamilyTraits[settings.amiFamily];
  const windows = family.arch === "amd64" ? ["windows"] : [];
  return [
    pool.in(labels.arch, [family.arch]),
    pool.in(labels.os, windowsBuild === undefined ? ["linux"] : windows),
    pool.in(
      labels.zone,
      zones.map(({ name }) => name),
    ),
    pool.in(
      awsZoneId,
      zones.map(({ id }) => id),
    ),
    pool.in(labels.region, [region.name]),
    pool.maybe(labels.windowsBuild, windowsBuild),
    pool.in(labels.capacityType, ["on-demand", "spot"]),
  ];
}

function nameRequirements({ name, familyName, size }: Machine, pool: RequirementPool): Requirement[] {
  const match = namePattern.exec(name);
  return [
    pool.maybe(awsLabels.instanceCategory, match?.[1]),
    pool.maybe(awsLabels.instanceGeneration, match?.[3]),
    pool.in(awsLabels.instanceFamily, [familyName]),
    pool.in(awsLabels.instanceSize, [size]),
    pool.in(awsLabels.instanceCapabilityFlex, [String(familyName.includes("-flex"))]),
  ];
}

function machineRequirements(machine: Machine, pool: RequirementPool): Requirement[] {
  const { family, isMetal } = machine;
  return [
    pool.maybe(awsLabels.instanceCpu, machine.vcpu),
    pool.maybe(awsLabels.instanceCpuManufacturer, family.mfr),
    pool.maybe(awsLabels.instanceCpuClockMhz, family.mhz),
    pool.maybe(awsLabels.instanceMemory, machine.memoryMiB),
    pool.maybe(awsLabels.instanceEbsBandwidth, positive(machine.ebsMbps)),
    pool.maybe(awsLabels.instanceNetworkBandwidth, positive(machine.networkMbps)),
    pool.maybe(awsLabels.instanceLocalNvme, positive(machine.nvmeGB)),
    pool.in(awsLabels.instanceHypervisor, [isMetal ? "" : family.hv]),
    pool.in(awsLabels.instanceEncryptionInTransit, [String(family.eit === true)]),
    // The embedded catalogue does not say which types have enclaves.
    pool.maybe(awsLabels.nitroSandbox, undefined),
  ];
}

function acceleratorRequirements({ family, accelerators }: Machine, pool: RequirementPool): Requirement[] {
  const gpu = accelerators > 0 ? family.gpu : undefined;
  const accelerator = accelerators > 0 ? (family.neuron ?? family.accel) : undefined;
  return [
    pool.maybe(awsLabels.instanceGpuName, gpu?.name),
    pool.maybe(awsLabels.instanceGpuManufacturer, gpu?.mfr),
    pool.maybe(awsLabels.instanceGpuCount, gpu && accelerators),
    pool.maybe(awsLabels.instanceGpuMemory, gpu?.memMiB),
    pool.maybe(awsLabels.instanceAcceleratorName, accelerator?.name),
    pool.maybe(awsLabels.instanceAcceleratorManufacturer, accelerator?.mfr),
    pool.maybe(awsLabels.instanceAcceleratorCount, accelerator && accelerators),
  ];
}

/** Labels of launched machines: any tenancy; reservations and placement groups only where a node class has them. */
function launchRequirements(pool: RequirementPool): Requirement[] {
  return [
    pool.in(awsLabels.instanceTenancy, tenancies),
    ...reservationRequirements(pool),
    pool.maybe(awsLabels.placementGroupId, undefined),
    pool.maybe(awsLabels.placementGroupPartition, undefined),
  ];
}

/** Not reserved. (04 §2.5) */
export function reservationRequirements(pool: RequirementPool): Requirement[] {
  return [
    pool.maybe(awsLabels.capacityReservationId, undefined),
    pool.maybe(awsLabels.capacityReservationType, undefined),
    pool.maybe(awsLabels.capacityReservationInterruptible, undefined),
  ];
}

function positive(value: number): number | undefined {
  return value > 0 ? value : undefined;
}
