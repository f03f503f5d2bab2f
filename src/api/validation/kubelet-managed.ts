import { parseDurationMs } from "../../util/duration.ts";
import { isRecord } from "../object.ts";
import type { Problem } from "../problem.ts";
import { stringMapAt } from "./kubelet.ts";
import { type KubeletConfiguration, kubeletDecodeProblems, kubeletPath } from "./kubelet-decode.ts";
import { managedKubeletFields } from "./kubelet-fields.ts";

type StringMap = Readonly<Record<string, string>>;

/** The fields of `spec.kubelet` that determine what fits on a node or that every family gets. (01 §1.6.4) */
export interface ManagedKubelet {
  readonly clusterDNS?: readonly string[];
  /** A string is an expression that is evaluated per instance type. */
  readonly maxPods?: number | string;
  readonly podsPerCore?: number;
  readonly systemReserved?: StringMap;
  readonly kubeReserved?: StringMap;
  readonly evictionHard?: StringMap;
  readonly evictionSoft?: StringMap;
  readonly evictionSoftGracePeriod?: StringMap;
  readonly evictionMaxPodGracePeriod?: number;
  readonly imageGCHighThresholdPercent?: number;
  readonly imageGCLowThresholdPercent?: number;
  readonly cpuCFSQuota?: boolean;
}

export type ManagedKubeletReading =
  | { readonly kind: "ok"; readonly kubelet: ManagedKubelet }
  | { readonly kind: "error"; readonly problem: Problem };

/**
 * Takes the managed fields out of the block, as a copy. All or nothing: with one field unreadable nobody should plan with
 * the others, and validation says which it was.
 */
export function managedKubelet(block: KubeletConfiguration | undefined): ManagedKubeletReading {
  const picked: Record<string, unknown> = {};
  for (const field of managedKubeletFields) {
    const value = block?.[field];
    if (value !== undefined && value !== null) picked[field] = value;
  }
  const [problem] = [...kubeletDecodeProblems(picked), ...gracePeriodProblems(picked)];
  if (problem !== undefined) return { kind: "error", problem };
  return { kind: "ok", kubelet: withoutNulls(picked) };
}

/** Every list and map among the managed fields is one of strings, for which the kubelet reads null as an empty one. */
function withoutNulls(picked: KubeletConfiguration): ManagedKubelet {
  const entries = Object.entries(picked).map(([field, value]) => {
    if (Array.isArray(value)) return [field, value.map((item: unknown) => item ?? "")];
    return [field, isRecord(value) ? stringMapAt(picked, field) : value];
  });
  return Object.fromEntries(entries) as ManagedKubelet;
}

function gracePeriodProblems(block: KubeletConfiguration): readonly Problem[] {
  return Object.entries(stringMapAt(block, "evictionSoftGracePeriod"))
    .filter(([, text]) => parseDurationMs(text) === undefined)
    .map(([signal, text]) => ({
      code: "type",
      path: [...kubeletPath, "evictionSoftGracePeriod", signal],
      message: `${JSON.stringify(text)} is not a duration like 1m30s`,
    }));
}
