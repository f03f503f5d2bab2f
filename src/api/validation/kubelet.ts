import { parseDurationMs } from "../../util/duration.ts";
import { Quantity } from "../../util/quantity.ts";
import { isRecord } from "../object.ts";
import type { Problem } from "../problem.ts";
import { type KubeletConfiguration, kubeletDecodeProblems, kubeletPath } from "./kubelet-decode.ts";
import { managedKubeletFields } from "./kubelet-fields.ts";
import { shortText } from "./names.ts";

const evictionSignals: readonly string[] = [
  "memory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "pid.available",
];
const reservableResources: readonly string[] = ["cpu", "memory", "ephemeral-storage", "pid"];

const thresholdMaps = ["evictionHard", "evictionSoft", "evictionMinimumReclaim"] as const;
export const reservedMaps = ["kubeReserved", "systemReserved"] as const;
export type ReservedMap = (typeof reservedMaps)[number];

/** Problems of `spec.kubelet` for reason `InvalidKubeletConfiguration`. (01 §1.6.4.1, §1.6.4.2) */
export function kubeletProblems(block: KubeletConfiguration | undefined): readonly Problem[] {
  return block === undefined ? [] : [...kubeletDecodeProblems(block), ...semanticProblems(block)];
}

// Fields of a wrong type are reported by the decoder; these checks read them as absent.
function semanticProblems(block: KubeletConfiguration): readonly Problem[] {
  return [
    ...karpenterOwnedFieldProblems(block),
    ...thresholdMaps.flatMap((field) => evictionProblems(block, { field, check: thresholdError })),
    ...evictionProblems(block, { field: "evictionSoftGracePeriod", check: gracePeriodError }),
    ...pairingProblems(block),
    ...reservedMaps.flatMap((field) => reservationProblems(block, field)),
    ...numberProblems(block),
  ];
}

function karpenterOwnedFieldProblems(block: KubeletConfiguration): readonly Problem[] {
  if (!Object.hasOwn(block, "registerWithTaints")) return [];
  return [problem(["registerWithTaints"], "Karpenter sets it from the pool's taints; put them there")];
}

function evictionProblems(
  block: KubeletConfiguration,
  { field, check }: { field: string; check: (value: string) => string | undefined },
): readonly Problem[] {
  return Object.entries(stringMapAt(block, field)).flatMap(([signal, value]) => {
    const error = check(value);
    return [
      ...(evictionSignals.includes(signal) ? [] : [unknownKey([field, signal], "eviction signal", evictionSignals)]),
      ...(error === undefined ? [] : [problem([field, signal], error)]),
    ];
  });
}

function thresholdError(value: string): string | undefined {
  if (value.endsWith("%")) {
    const percent = value.slice(0, -1);
    const isPercent = /^\+?(\d+\.?\d*|\.\d+)$/.test(percent) && Number(percent) <= 100;
    return isPercent ? undefined : `${JSON.stringify(shortText(value))} is not a percentage from 0% to 100%`;
  }
  const quantity = Quantity.tryParse(value);
  if (quantity === undefined)
    return `${JSON.stringify(shortText(value))} is neither a percentage like 5% nor a quantity like 500Mi`;
  return quantity.sign() < 0 ? `${value} is negative` : undefined;
}

function gracePeriodError(value: string): string | undefined {
  const ms = parseDurationMs(value);
  if (ms === undefined) return `${JSON.stringify(shortText(value))} is not a duration like 1m30s`;
  return ms < 0 ? `${value} is negative` : undefined;
}

// The kubelet ignores a soft threshold without a grace period, and refuses a grace period without a threshold.
function pairingProblems(block: KubeletConfiguration): readonly Problem[] {
  const pairs = [
    ["evictionSoft", "evictionSoftGracePeriod"],
    ["evictionSoftGracePeriod", "evictionSoft"],
  ] as const;
  return pairs.flatMap(([field, other]) =>
    Object.keys(stringMapAt(block, field))
      .filter((signal) => !Object.hasOwn(stringMapAt(block, other), signal))
      .map((signal) => problem([field, signal], `there is no ${other} for it; give both or neither`)),
  );
}

function reservationProblems(block: KubeletConfiguration, field: ReservedMap): readonly Problem[] {
  return Object.entries(stringMapAt(block, field)).flatMap(([resource, value]) => [
    ...(reservableResources.includes(resource)
      ? []
      : [unknownKey([field, resource], "reservable resource", reservableResources)]),
    ...(value.startsWith("-") ? [problem([field, resource], `${shortText(value)} is negative`)] : []),
  ]);
}

function numberProblems(block: KubeletConfiguration): readonly Problem[] {
  const percents = ["imageGCHighThresholdPercent", "imageGCLowThresholdPercent"] as const;
  const [high, low] = percents.map((field) => integer(block, field));
  const isInverted = high !== undefined && low !== undefined && high <= low;
  return [
    ...percents.flatMap((field) => rangeProblems(block, { field, max: 100 })),
    ...["podsPerCore", "evictionMaxPodGracePeriod", "maxPods"].flatMap((field) => rangeProblems(block, { field })),
    ...(isInverted
      ? [
          problem(
            [percents[0]],
            `${high} must be greater than imageGCLowThresholdPercent ${low}, or images are never collected`,
          ),
        ]
      : []),
  ];
}

function rangeProblems(
  block: KubeletConfiguration,
  { field, max }: { field: string; max?: number },
): readonly Problem[] {
  const value = integer(block, field);
  if (value === undefined || (value >= 0 && value <= (max ?? value))) return [];
  return [problem([field], max === undefined ? `${value} is negative` : `${value} is not between 0 and ${max}`)];
}

/**
 * Fields the image family cannot be given: reason `UnsupportedKubeletConfiguration`. Only AL2023 takes the block as it
 * is; a Custom image is its owner's business. Elsewhere the field would be lost without a word. (01 §1.6.4.4)
 */
export function amiFamilyKubeletProblems(
  block: KubeletConfiguration | undefined,
  amiFamily: string,
): readonly Problem[] {
  if (block === undefined || amiFamily === "AL2023" || amiFamily === "Custom") return [];
  const { podsPerCore, clusterDNS } = block;
  const problems = unmanagedKubeletFields(block).map((field) =>
    unsupported(field, `${amiFamily} images do not support it; use AL2023`),
  );
  if (amiFamily === "Bottlerocket" && podsPerCore !== undefined) {
    problems.push(unsupported("podsPerCore", "Bottlerocket has no such setting; use maxPods"));
  }
  if (Array.isArray(clusterDNS) && clusterDNS.length > 1) {
    problems.push(unsupported("clusterDNS", `${amiFamily} images take one address, not ${clusterDNS.length}`));
  }
  return problems;
}

/** Fields Karpenter does not read, sorted. */
export function unmanagedKubeletFields(block: KubeletConfiguration): readonly string[] {
  return Object.keys(block)
    .filter((field) => !managedKubeletFields.some((managed) => managed === field))
    .sort();
}

/** A map of strings; empty if it is absent or something else. The kubelet reads null in it as an empty string. */
export function stringMapAt(block: KubeletConfiguration, field: string): Readonly<Record<string, string>> {
  const value = block[field];
  if (!isRecord(value)) return {};
  const entries = Object.entries(value).map(([key, item]) => [key, item ?? ""]);
  return entries.every(([, item]) => typeof item === "string") ? Object.fromEntries(entries) : {};
}

function integer(block: KubeletConfiguration, field: string): number | undefined {
  const value = block[field];
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

function problem(path: readonly string[], message: string): Problem {
  return { code: "kubelet", path: [...kubeletPath, ...path], message, rule: "01 §1.6.4" };
}

function unknownKey(path: readonly string[], what: string, known: readonly string[]): Problem {
  return { ...problem(path, `${shortText(path.at(-1) ?? "")} is not a valid ${what}`), expected: known.join(", ") };
}

function unsupported(field: string, message: string): Problem {
  return problem([field], message);
}
