import { fenceposts, sum } from "../counts.ts";
import type { RollingUpdate } from "../types.ts";

/** A ReplicaSet as far as rolling out is concerned. */
export interface SetSize {
  readonly name: string;
  /** As wanted now. */
  readonly replicas: number;
  readonly available: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** What the whole Deployment could have at most when this set was last sized; the measure for its share. */
  readonly maxReplicas?: number | undefined;
}

/** How many pods a Deployment wants, and how it may get there. */
export interface RolloutSpec {
  readonly replicas: number;
  readonly strategy: "RollingUpdate" | "Recreate";
  readonly rollingUpdate?: RollingUpdate | undefined;
}

/** Sizes by name of set, for those that change. */
export type Sizes = ReadonlyMap<string, number>;

/** How many pods there may be in all. */
export function maxSurge({ strategy, rollingUpdate = {}, replicas }: RolloutSpec): number {
  return strategy === "RollingUpdate" ? fenceposts(rollingUpdate, replicas).surge : 0;
}

/** How many pods may be missing. */
export function maxUnavailable({ strategy, rollingUpdate = {}, replicas }: RolloutSpec): number {
  if (strategy !== "RollingUpdate" || replicas === 0) return 0;
  return Math.min(replicas, fenceposts(rollingUpdate, replicas).unavailable);
}

/** What the new set should have: all it wants, as far as the surge leaves room. `others` are the old sets. */
export function newSetSize(spec: RolloutSpec, fresh: SetSize | undefined, others: readonly SetSize[]): number {
  const has = fresh?.replicas ?? 0;
  if (has >= spec.replicas || spec.strategy === "Recreate") return spec.replicas;
  const room = spec.replicas + maxSurge(spec) - has - sum(others, ({ replicas }) => replicas);
  return has + Math.min(Math.max(0, room), spec.replicas - has);
}

/**
 * One step of retiring old sets: first their pods that are not available, which nobody misses, then as many others as
 * the new ones that are available allow, oldest set first. (05:CP-L1)
 */
export function oldSetSizes(spec: RolloutSpec, fresh: SetSize | undefined, old: readonly SetSize[]): Sizes {
  const all = fresh === undefined ? old : [...old, fresh];
  const minAvailable = spec.replicas - maxUnavailable(spec);
  const pending = fresh === undefined ? 0 : fresh.replicas - fresh.available;
  const spare = sum(all, ({ replicas }) => replicas) - minAvailable - pending;
  const sizes = new Map<string, number>();
  if (spare <= 0) return sizes;
  const oldestFirst = [...old].filter(({ replicas }) => replicas > 0).sort(byAge);
  const healthy = retireUnhealthy(oldestFirst, { atMost: spare, sizes });
  const surplus = sum(all, ({ available }) => available) - minAvailable;
  retire(healthy, { atMost: surplus, sizes });
  return sizes;
}

interface Retirement {
  readonly atMost: number;
  readonly sizes: Map<string, number>;
}

function retireUnhealthy(sets: readonly SetSize[], { atMost, sizes }: Retirement): readonly SetSize[] {
  let left = atMost;
  return sets.map((set) => {
    const count = Math.max(0, Math.min(left, set.replicas - set.available));
    if (count === 0) return set;
    left -= count;
    sizes.set(set.name, set.replicas - count);
    return { ...set, replicas: set.replicas - count };
  });
}

function retire(sets: readonly SetSize[], { atMost, sizes }: Retirement): void {
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
 * When somebody scales a Deployment in the middle of a rollout, its sets grow or shrink in proportion, so that a bad new
 * version does not get all the new pods.
 */
export function proportionalSizes(spec: RolloutSpec, active: readonly SetSize[]): Sizes {
  const total = sum(active, ({ replicas }) => replicas);
  const toAdd = (spec.replicas > 0 ? spec.replicas + maxSurge(spec) : 0) - total;
  const bySize = [...active].sort(
    (a, b) => b.replicas - a.replicas || (toAdd > 0 ? byAge(b, a) : byAge(a, b)), // growth favours the new
  );
  let added = 0;
  const sizes = bySize.map((set): [string, number] => {
    const share = shareOf(set, { spec, toAdd, left: toAdd - added });
    added += share;
    return [set.name, set.replicas + share];
  });
  const [largest] = sizes;
  if (largest !== undefined) largest[1] = Math.max(0, largest[1] + toAdd - added); // what rounding left over
  return new Map(sizes);
}

function shareOf(
  { replicas, maxReplicas = 0 }: SetSize,
  { spec, toAdd, left }: { readonly spec: RolloutSpec; readonly toAdd: number; readonly left: number },
): number {
  if (replicas === 0 || toAdd === 0 || left === 0) return 0;
  const fraction = fractionOf({ replicas, maxReplicas }, spec);
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

function fractionOf({ replicas, maxReplicas }: Required<Pick<SetSize, "replicas" | "maxReplicas">>, spec: RolloutSpec) {
  if (spec.replicas === 0) return -replicas;
  if (maxReplicas === 0 || maxReplicas === undefined) return 0;
  return Math.round((replicas * (spec.replicas + maxSurge(spec))) / maxReplicas) - replicas;
}

/** Oldest first; names break ties, so that the answer does not depend on how they came. */
export function byAge(a: Pick<SetSize, "createdAt" | "name">, b: Pick<SetSize, "createdAt" | "name">): number {
  return a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1);
}
