import type { Pod } from "../api/kubernetes/pod.ts";
import { annotations } from "../api/labels.ts";
import { neverDuration, parseNillableDurationMs } from "../util/duration.ts";

const minEvictionCost = -10;
const maxEvictionCost = 10;

/** What a pod's deletion cost says: nothing unless it is a number. */
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

/** How much it hurts to evict a pod: about one, more for important pods, less for those that say so. (03:D-5) */
function evictionCost(pod: Pod): number {
  const given = deletionCost(pod);
  const deletionTerm = given.kind === "cost" ? given.cost / 2 ** 27 : 0;
  return clamp(1 + deletionTerm + (pod.spec.priority ?? 0) / 2 ** 25, { minEvictionCost, maxEvictionCost });
}

/** Of all pods, whatever becomes of them: what the order of scaling a static pool down goes by. (03:D-9b) */
export function totalEvictionCost(pods: readonly Pod[]): number {
  return pods.reduce((sum, pod) => sum + evictionCost(pod), 0);
}

/** A claim, as far as its end can be foreseen. */
export interface ExpiringClaim {
  readonly metadata: { readonly creationTimestamp?: string | undefined };
  readonly spec: { readonly expireAfter?: string | undefined };
}

/** The part of its life a node has before it, 1 where it does not expire: what ends soon anyway costs little. (03:D-9b) */
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
