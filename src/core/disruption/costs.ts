import type { Pod } from "../../api/kubernetes/pod.ts";
import { annotations } from "../../api/labels.ts";
import { neverDuration, parseNillableDurationMs } from "../../util/duration.ts";

const minEvictionCost = -10;
const maxEvictionCost = 10;

/** A pod's deletion cost annotation; undefined unless it is a number. */
export type DeletionCost =
  | { readonly kind: "none" }
  | { readonly kind: "cost"; readonly cost: number }
  | { readonly kind: "invalid"; readonly value: string };

export function deletionCost({ metadata }: Pod): DeletionCost {
  const value = metadata.annotations?.[annotations.podDeletionCost];
  if (value === undefined) return { kind: "none" };
  const cost = value.trim() === value && value !== "" ? Number(value) : Number.NaN;
  return Number.isFinite(cost) ? { kind: "cost", cost } : { kind: "invalid", value };
}

/** The cost of evicting a pod: about 1, higher for high priority, changed by pod-deletion-cost. (03:D-5) */
function evictionCost(pod: Pod): number {
  const given = deletionCost(pod);
  const deletionTerm = given.kind === "cost" ? given.cost / 2 ** 27 : 0;
  return clamp(1 + deletionTerm + (pod.spec.priority ?? 0) / 2 ** 25, { minEvictionCost, maxEvictionCost });
}

/** What draining a node costs whatever runs on it. (03:D-7) */
export const nodeDisruptionCost = 1;

/** The cost of draining a node: pods that are glad to go do not make it cheaper. (03:D-7) */
export function drainCost(pods: readonly Pod[]): number {
  return pods.reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), nodeDisruptionCost);
}

/** Sum over all pods, rescheduled or not: decides the order in which a static pool is scaled down. (03:D-9b) */
export function totalEvictionCost(pods: readonly Pod[]): number {
  return pods.reduce((sum, pod) => sum + evictionCost(pod), 0);
}

/** What a claim's expiration depends on. */
export interface ExpiringClaim {
  readonly metadata: { readonly creationTimestamp?: string | undefined };
  readonly spec: { readonly expireAfter?: string | undefined };
}

/** Remaining share of a node's lifetime, 1 if it does not expire: nodes that end soon cost little. (03:D-9b) */
export function lifetimeRemaining({ metadata, spec }: ExpiringClaim, nowMs: number): number {
  const lifeMs = parseNillableDurationMs(spec.expireAfter ?? neverDuration);
  if (lifeMs === neverDuration || lifeMs === undefined) return 1;
  if (lifeMs <= 0) return 0;
  const ageMs = nowMs - Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(ageMs) ? 1 : clamp((lifeMs - ageMs) / lifeMs, { minEvictionCost: 0, maxEvictionCost: 1 });
}

function clamp(value: number, bounds: { readonly minEvictionCost: number; readonly maxEvictionCost: number }): number {
  return Math.min(bounds.maxEvictionCost, Math.max(bounds.minEvictionCost, value));
}
