import { labels, resources } from "../../api/labels.ts";
import { allocatableOf, type InstanceType, type Offering } from "../../core/instance-type.ts";
import type { Requirement } from "../../core/requirement.ts";
import { mergeResources, type Resources } from "../../core/resources.ts";
import { derivedLabels, kwokOverhead } from "./kwok-instance-type.ts";

export interface KwokExportOptions {
  /** Which of the types' own labels are written; by default all. */
  readonly includesLabel?: (label: string) => boolean;
}

/**
 * Writes types of any provider as an instance types file. Read as KWOK types they schedule the same:
 *
 * - KWOK's overhead is the same for all types, so capacity is written such that allocatable is right;
 * - KWOK derives a type's labels from its name, so the provider's own labels are written on each offering;
 * - whatever a file lists is available, so unavailable offerings are left out;
 * - the format requires an operating system, so a type without one is left out.
 */
export function toKwokFile(
  types: readonly InstanceType[],
  { includesLabel = () => true }: KwokExportOptions = {},
): string {
  const written = types
    .filter(({ requirements }) => requirements.get(labels.os).operator === "In")
    .map((type) => JSON.stringify(typeJson(type, includesLabel)));
  return `[\n${written.join(",\n")}\n]\n`;
}

function typeJson(type: InstanceType, includesLabel: (label: string) => boolean): object {
  const extra = [...type.requirements.keys()].filter((label) => !derivedLabels.has(label) && includesLabel(label));
  const includedRequirements = extra.map((label) => type.requirements.get(label));
  return {
    name: type.name,
    offerings: type.offerings
      .filter(({ available }) => available)
      .map((offering) => offeringJson(offering, includedRequirements)),
    architecture: type.requirements.get(labels.arch).singleValue ?? "",
    operatingSystems: type.requirements.get(labels.os).sortedValues(),
    resources: resourcesJson(type),
  };
}

function offeringJson(offering: Offering, includedRequirements: readonly Requirement[]): object {
  const own = offering.requirements;
  const missing = includedRequirements.filter(({ key }) => !own.has(key));
  return {
    Price: offering.price,
    Available: true,
    ...(offering.reservationCapacity === undefined ? {} : { ReservationCapacity: offering.reservationCapacity }),
    Requirements: [...own, ...missing].flatMap((requirement) => requirement.withMinValues(undefined).toItems()),
  };
}

/** The capacity that yields this type's allocatable after KWOK's overhead and the rule about huge pages. (02:A-11) */
function resourcesJson(type: InstanceType): Readonly<Record<string, string>> {
  const pages = Object.entries(type.capacity).filter(([name]) => name.startsWith("hugepages-"));
  const reserved = pages.map(([, quantity]): Resources => ({ [resources.memory]: quantity }));
  const amounts = mergeResources(allocatableOf(type), kwokOverhead.kubeReserved, ...reserved);
  return Object.fromEntries(Object.entries(amounts).map(([name, quantity]) => [name, quantity.canonical()]));
}
