import { parseDurationMs } from "../../util/duration.ts";
import { annotations } from "../labels.ts";

type Annotations = Readonly<Record<string, string>> | undefined;

/** The part of a pod that determines whether it is protected. */
export interface ProtectablePod {
  readonly metadata: { readonly annotations?: Annotations; readonly deletionTimestamp?: string | undefined };
  readonly status?: { readonly phase?: string | undefined; readonly startTime?: string | undefined } | undefined;
}

/** The effect of `karpenter.sh/do-not-disrupt` on a pod. Kinds other than none and forever each have an event. */
export type PodProtection =
  | { readonly kind: "none" }
  | { readonly kind: "forever" }
  /** `untilMs` is unknown while the pod has not started: it is protected until it has, and then for the whole time. */
  | { readonly kind: "until"; readonly untilMs: number | undefined }
  | { readonly kind: "elapsed"; readonly sinceMs: number }
  | { readonly kind: "invalid"; readonly value: string };

/** Counted from the pod's start, not its creation: waiting for a node is not running. (01 §3.2.1, 03 §0.4) */
export function podProtection({ metadata, status }: ProtectablePod, nowMs: number): PodProtection {
  const value = metadata.annotations?.[annotations.doNotDisrupt];
  if (value === undefined) return { kind: "none" };
  if (value === "true") return { kind: "forever" };
  const graceMs = parseDurationMs(value);
  if (graceMs === undefined || graceMs <= 0) return { kind: "invalid", value };
  const startMs = Date.parse(status?.startTime ?? "");
  if (Number.isNaN(startMs)) return { kind: "until", untilMs: undefined };
  const endMs = startMs + graceMs;
  return nowMs < endMs ? { kind: "until", untilMs: endMs } : { kind: "elapsed", sinceMs: endMs };
}

/** Pods that are finished or terminating do not block disruption; daemon and mirror pods do. */
export function isPodProtected(pod: ProtectablePod, nowMs: number): boolean {
  if (pod.metadata.annotations?.[annotations.doNotDisrupt] === undefined) return false;
  const phase = pod.status?.phase;
  const isActive = pod.metadata.deletionTimestamp === undefined && phase !== "Succeeded" && phase !== "Failed";
  if (!isActive) return false;
  const { kind } = podProtection(pod, nowMs);
  return kind === "forever" || kind === "until";
}

/** On a node only the value "true" has an effect; durations are for pods. (01 §9.11) */
export function isNodeProtected(node: { readonly metadata: { readonly annotations?: Annotations } }): boolean {
  return node.metadata.annotations?.[annotations.doNotDisrupt] === "true";
}

/** Which events are recorded for the pod. */
export const protectionEvents = {
  until: { type: "Normal", reason: "DoNotDisruptUntil" },
  elapsed: { type: "Normal", reason: "DoNotDisruptGracePeriodElapsed" },
  invalid: { type: "Warning", reason: "InvalidDoNotDisruptAnnotation" },
} as const;
