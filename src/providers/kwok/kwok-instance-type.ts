import type { LabelPolicy } from "../../api/label-policy.ts";
import { kwokLabels, labels, resources } from "../../api/labels.ts";
import type { DynamicResources } from "../../core/devices/template-devices.ts";
import { type InstanceType, noOverhead, type Offering, type Overhead } from "../../core/instance-type.ts";
import { Requirement } from "../../core/requirement.ts";
import { Requirements } from "../../core/requirements.ts";
import { amountOf, type Resources } from "../../core/resources.ts";
import { Quantity } from "../../util/quantity.ts";

/** What a KWOK type states; its labels are derived. (02:K-4) */
export interface KwokTypeSpec {
  readonly name: string;
  readonly architecture: string;
  readonly operatingSystems: readonly string[];
  readonly resources: Resources;
  readonly offerings: readonly Offering[];
  /** The devices its nodes publish. (02:D-3) */
  readonly dynamicResources?: DynamicResources | undefined;
}

/** Labels derived from name, size and offerings, and so never stored in a file. (02:K-5) */
export const derivedLabels: ReadonlySet<string> = new Set([
  labels.instanceType,
  labels.arch,
  labels.os,
  labels.zone,
  labels.capacityType,
  kwokLabels.instanceSize,
  kwokLabels.instanceFamily,
  kwokLabels.instanceCpu,
  kwokLabels.instanceMemory,
]);

/** Every KWOK type reserves the same for the kubelet. (02:K-6) */
export const kwokOverhead: Overhead = {
  ...noOverhead,
  kubeReserved: { [resources.cpu]: Quantity.milli(100), [resources.memory]: Quantity.parse("10Mi") },
};

/** Builds the InstanceType, with the labels that follow from its name, size and offerings. (02:K-5, K-6) */
export function kwokInstanceType({ name, architecture, operatingSystems, ...type }: KwokTypeSpec): InstanceType {
  const cpu = amountOf(type.resources, resources.cpu).canonical();
  return {
    name,
    requirements: Requirements.of(
      Requirement.in(labels.instanceType, [name]),
      Requirement.in(labels.arch, [architecture]),
      Requirement.in(labels.os, operatingSystems),
      unionOfValues(type.offerings, labels.zone),
      unionOfValues(type.offerings, labels.capacityType),
      Requirement.in(kwokLabels.instanceSize, [sizeOf(name) ?? cpu]),
      Requirement.in(kwokLabels.instanceFamily, [familyOf(name)]),
      Requirement.in(kwokLabels.instanceCpu, [cpu]),
      Requirement.in(kwokLabels.instanceMemory, [amountOf(type.resources, resources.memory).canonical()]),
    ),
    offerings: type.offerings,
    capacity: type.resources,
    overhead: kwokOverhead,
    ...(type.dynamicResources !== undefined && { dynamicResources: type.dynamicResources }),
  };
}

/** Every label that distinguishes offerings counts as well-known. (02:K-5) */
export function withOfferingKeys(policy: LabelPolicy, types: readonly InstanceType[]): LabelPolicy {
  const wellKnown = new Set(policy.wellKnown);
  for (const { offerings } of types) {
    for (const { requirements } of offerings) for (const key of requirements.keys()) wellKnown.add(key);
  }
  return { ...policy, wellKnown };
}

/** The part after the dot of a name like EC2's; other names do not contain a size. (02:K-5) */
function sizeOf(name: string): string | undefined {
  return /^\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)$/.exec(name)?.[1];
}

function familyOf(name: string): string {
  const end = name.search(/[.-]/);
  return name.slice(0, end < 0 ? 1 : end);
}

function unionOfValues(offerings: readonly Offering[], label: string): Requirement {
  return Requirement.in(
    label,
    offerings.flatMap(({ requirements }) => {
      const requirement = requirements.get(label);
      return requirement.complement ? [] : [...requirement.values];
    }),
  );
}
