import type { Taint } from "../../../api/labels.ts";
import type { ManagedKubelet } from "../../../api/validation/kubelet-managed.ts";
import { formatDurationMs, parseDurationMs } from "../../../util/duration.ts";
import type { ParsedUserDataRequest } from "./user-data-request.ts";

type StringMap = Readonly<Record<string, string>>;

/** The kubelet's arguments in a fixed order, maps sorted by key. (04 §1.9) */
export function kubeletFlags({ managed, labels, taints }: ParsedUserDataRequest): readonly string[] {
  return [
    nodeLabelsFlag(labels),
    taintsFlag(taints),
    scalarFlag("--max-pods", managed.maxPods),
    scalarFlag("--pods-per-core", managed.podsPerCore),
    mapFlag("--system-reserved", managed.systemReserved, "="),
    mapFlag("--kube-reserved", managed.kubeReserved, "="),
    mapFlag("--eviction-hard", managed.evictionHard, "<"),
    mapFlag("--eviction-soft", managed.evictionSoft, "<"),
    mapFlag("--eviction-soft-grace-period", softGracePeriods(managed), "="),
    scalarFlag("--eviction-max-pod-grace-period", managed.evictionMaxPodGracePeriod),
    scalarFlag("--image-gc-high-threshold", managed.imageGCHighThresholdPercent),
    scalarFlag("--image-gc-low-threshold", managed.imageGCLowThresholdPercent),
    scalarFlag("--cpu-cfs-quota", managed.cpuCFSQuota),
  ].filter((flag) => flag !== undefined);
}

export function nodeLabelsFlag(labels: StringMap): string | undefined {
  return mapFlag("--node-labels", labels, "=");
}

/** In Go's spelling. The durations were checked when the block was read. */
export function softGracePeriods({ evictionSoftGracePeriod }: ManagedKubelet): StringMap | undefined {
  if (evictionSoftGracePeriod === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(evictionSoftGracePeriod).map(([signal, text]) => [
      signal,
      formatDurationMs(parseDurationMs(text) ?? 0),
    ]),
  );
}

function taintsFlag(taints: readonly Taint[]): string | undefined {
  if (taints.length === 0) return undefined;
  const written = taints.map(({ key, value = "", effect }) => `${key}=${value}:${effect}`);
  return `--register-with-taints="${written.join(",")}"`;
}

function scalarFlag(name: string, value: number | string | boolean | undefined): string | undefined {
  return value === undefined ? undefined : `${name}=${value}`;
}

function mapFlag(name: string, map: StringMap | undefined, separator: string): string | undefined {
  const entries = Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return undefined;
  return `${name}="${entries.map(([key, value]) => `${key}${separator}${value}`).join(",")}"`;
}
