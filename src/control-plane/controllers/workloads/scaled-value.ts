import type { CountOrPercent } from "./types.ts";

/** Resolves `25%` against a number; plain numbers are returned unchanged. */
export function scaledValue(
  value: CountOrPercent | undefined,
  { of, round }: { readonly of: number; readonly round: "up" | "down" },
): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value ?? "")?.[1];
  if (percent === undefined) return 0;
  const exact = Number(percent) * of; // an integer: 0.29 * 100 would round to the wrong side
  return round === "up" ? Math.ceil(exact / 100) : Math.floor(exact / 100);
}

export interface RolloutFenceposts {
  readonly surge: number;
  readonly unavailable: number;
}

/** How far a rollout may deviate from the wanted replicas: surge rounds up, unavailability down, and at least one of them is 1. */
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
