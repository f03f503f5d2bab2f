import type { CountOrPercent } from "./types.ts";

/** What `25%` of a number is; numbers stand for themselves. */
export function scaledValue(
  value: CountOrPercent | undefined,
  { of, round }: { readonly of: number; readonly round: "up" | "down" },
): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value ?? "")?.[1];
  if (percent === undefined) return 0;
  const exact = Number(percent) * of; // whole hundredths: rounding a product of fractions would err at 29% of 100
  return round === "up" ? Math.ceil(exact / 100) : Math.floor(exact / 100);
}

export interface RolloutFenceposts {
  readonly surge: number;
  readonly unavailable: number;
}

/** How far a rollout may stray: surge rounds up, unavailability down, and one of the two is at least one. */
export function resolveFenceposts(
  limits: { readonly maxSurge?: CountOrPercent | undefined; readonly maxUnavailable?: CountOrPercent | undefined },
  replicas: number,
): RolloutFenceposts {
  const surge = scaledValue(limits.maxSurge, { of: replicas, round: "up" });
  const unavailable = scaledValue(limits.maxUnavailable, { of: replicas, round: "down" });
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function sum<T>(items: readonly T[], of: (item: T) => number | undefined): number {
  return items.reduce((total, item) => total + (of(item) ?? 0), 0);
}
