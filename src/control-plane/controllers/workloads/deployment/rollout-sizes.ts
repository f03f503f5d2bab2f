import { resolveFenceposts, sum } from "../scaled-value.ts";
import type { RollingUpdate } from "../types.ts";

/** What a rollout needs to know about a ReplicaSet. */
export interface ReplicaSetSize {
  readonly name: string;
  /** The wanted number, `spec.replicas`. */
  readonly replicas: number;
  readonly available: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The Deployment's maximum size when this set was last scaled; proportional scaling divides by it. */
  readonly maxReplicas?: number | undefined;
}

/** How many pods a Deployment wants, and how a rollout gets there. */
export interface RolloutSpec {
  readonly replicas: number;
  readonly strategy: "RollingUpdate" | "Recreate";
  readonly rollingUpdate?: RollingUpdate | undefined;
}

/** New sizes by name, of the sets that change. */
export type ReplicaSetSizes = ReadonlyMap<string, number>;

/** How many pods there may be beyond the wanted number. */
export function maxSurge({ strategy, rollingUpdate = {}, replicas }: RolloutSpec): number {
  return strategy === "RollingUpdate" ? resolveFenceposts(rollingUpdate, replicas).surge : 0;
}

/** How many pods may be missing. */
export function maxUnavailable({ strategy, rollingUpdate = {}, replicas }: RolloutSpec): number {
  if (strategy !== "RollingUpdate" || replicas === 0) return 0;
  return Math.min(replicas, resolveFenceposts(rollingUpdate, replicas).unavailable);
}

/** The size of the new set: all wanted pods, as far as the surge allows. `others` are the old sets. */
export function newReplicaSetSize(
  spec: RolloutSpec,
  newReplicaSet: ReplicaSetSize | undefined,
  others: readonly ReplicaSetSize[],
): number {
  const current = newReplicaSet?.replicas ?? 0;
  if (current >= spec.replicas || spec.strategy === "Recreate") return spec.replicas;
  const room = spec.replicas + maxSurge(spec) - current - sum(others, ({ replicas }) => replicas);
  return current + Math.min(Math.max(0, room), spec.replicas - current);
}

/**
 * One step of scaling down old sets: first their unavailable pods, then as many available ones as the new set's available
 * pods allow, oldest set first. (05:CP-L1)
 */
export function oldReplicaSetSizes(
  spec: RolloutSpec,
  newReplicaSet: ReplicaSetSize | undefined,
  old: readonly ReplicaSetSize[],
): ReplicaSetSizes {
  const all = newReplicaSet === undefined ? old : [...old, newReplicaSet];
  const minAvailable = spec.replicas - maxUnavailable(spec);
  const pending = newReplicaSet === undefined ? 0 : newReplicaSet.replicas - newReplicaSet.available;
  const maxScaledDown = sum(all, ({ replicas }) => replicas) - minAvailable - pending;
  const sizes = new Map<string, number>();
  if (maxScaledDown <= 0) return sizes;
  const oldestFirst = [...old].filter(({ replicas }) => replicas > 0).sort(byAge);
  const healthy = scaleDownUnhealthy(oldestFirst, { atMost: maxScaledDown, sizes });
  const surplus = sum(all, ({ available }) => available) - minAvailable;
  scaleDownHealthy(healthy, { atMost: surplus, sizes });
  return sizes;
}

interface ScaleDownOptions {
  readonly atMost: number;
  readonly sizes: Map<string, number>;
}

function scaleDownUnhealthy(
  sets: readonly ReplicaSetSize[],
  { atMost, sizes }: ScaleDownOptions,
): readonly ReplicaSetSize[] {
  let left = atMost;
  return sets.map((set) => {
    const count = Math.max(0, Math.min(left, set.replicas - set.available));
    if (count === 0) return set;
    left -= count;
    sizes.set(set.name, set.replicas - count);
    return { ...set, replicas: set.replicas - count };
  });
}

function scaleDownHealthy(sets: readonly ReplicaSetSize[], { atMost, sizes }: ScaleDownOptions): void {
  let left = atMost;
  for (const { name, replicas } of sets) {
    if (left <= 0) return;
    const count = Math.min(replicas, left);
    if (count === 0) continue;
    left -= count;
    sizes.set(name, replicas - count);
  }
}

/**
 * When a Deployment is scaled during a rollout, its sets grow or shrink in proportion, so that a bad new version does not
 * get all the new pods.
 */
export function proportionalSizes(spec: RolloutSpec, active: readonly ReplicaSetSize[]): ReplicaSetSizes {
  const total = sum(active, ({ replicas }) => replicas);
  const toAdd = (spec.replicas > 0 ? spec.replicas + maxSurge(spec) : 0) - total;
  const bySize = [...active].sort(
    (a, b) => b.replicas - a.replicas || (toAdd > 0 ? byAge(b, a) : byAge(a, b)), // growing, the newest first
  );
  let added = 0;
  const sizes = bySize.map((set): [string, number] => {
    const share = proportionOf(set, { spec, toAdd, left: toAdd - added });
    added += share;
    return [set.name, set.replicas + share];
  });
  const [largest] = sizes;
  if (largest !== undefined) largest[1] = Math.max(0, largest[1] + toAdd - added); // the rest from rounding
  return new Map(sizes);
}

function proportionOf(
  { replicas, maxReplicas = 0 }: ReplicaSetSize,
  { spec, toAdd, left }: { readonly spec: RolloutSpec; readonly toAdd: number; readonly left: number },
): number {
  if (replicas === 0 || toAdd === 0 || left === 0) return 0;
  const fraction = exactProportion({ replicas, maxReplicas }, spec);
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

function exactProportion(
  { replicas, maxReplicas }: Required<Pick<ReplicaSetSize, "replicas" | "maxReplicas">>,
  spec: RolloutSpec,
) {
  if (spec.replicas === 0) return -replicas;
  if (maxReplicas === 0 || maxReplicas === undefined) return 0;
  return Math.round((replicas * (spec.replicas + maxSurge(spec))) / maxReplicas) - replicas;
}

/** Oldest first; names break ties, so that the result does not depend on the input order. */
export function byAge(
  a: Pick<ReplicaSetSize, "createdAt" | "name">,
  b: Pick<ReplicaSetSize, "createdAt" | "name">,
): number {
  return a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1);
}
