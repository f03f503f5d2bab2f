import type { Toleration } from "../api/kubernetes/pod.ts";
import type { Taint } from "../api/labels.ts";
import { parseInt64 } from "./int64.ts";

/** What relaxation adds as its last step. (02:Q-40) */
const toleratePreferNoSchedule: Toleration = { operator: "Exists", effect: "PreferNoSchedule" };

/** Whether one of the tolerations covers the taint, whatever its effect. (02:Q-43) */
export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  if (tolerations === undefined) return false;
  for (const toleration of tolerations) if (toleratesTaint(toleration, taint)) return true;
  return false;
}

/** The first taint that is not tolerated. */
export function firstUntoleratedTaint(
  tolerations: readonly Toleration[] | undefined,
  taints: readonly Taint[],
): Taint | undefined {
  for (const taint of taints) if (!tolerates(tolerations, taint)) return taint;
  return undefined;
}

export function untoleratedTaints(
  tolerations: readonly Toleration[] | undefined,
  taints: readonly Taint[],
): readonly Taint[] {
  return taints.filter((taint) => !tolerates(tolerations, taint));
}

/** One phrase a taint, as events print it. (02:E-1) */
export function describeUntoleratedTaints(taints: readonly Taint[]): string {
  return taints.map((taint) => `did not tolerate taint (taint=${formatTaint(taint)})`).join("; ");
}

/** `key=value:Effect`, or `key:Effect` without a value. */
export function formatTaint({ key, value = "", effect }: Taint): string {
  return value === "" ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}

/** The same list if the toleration is in it already. (02:Q-40 step 6, 02:G-1) */
export function withPreferNoScheduleToleration(tolerations: readonly Toleration[] | undefined): readonly Toleration[] {
  if (tolerations?.some(isPreferNoScheduleToleration)) return tolerations;
  return [...(tolerations ?? []), toleratePreferNoSchedule];
}

function isPreferNoScheduleToleration({ key = "", operator, value = "", effect }: Toleration): boolean {
  return key === "" && operator === "Exists" && value === "" && effect === "PreferNoSchedule";
}

/** An empty effect means every effect and an empty key every key; an empty operator means Equal. (02:Q-43) */
function toleratesTaint(toleration: Toleration, taint: Taint): boolean {
  const { key = "", operator = "", value = "", effect = "" } = toleration;
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (operator) {
    case "":
    case "Equal":
      return value === (taint.value ?? "");
    case "Exists":
      return true;
    case "Gt":
    case "Lt":
      return comparesAs(operator, taint.value ?? "", value);
    default:
      return false;
  }
}

/** Only integers as one would naturally write them: no plus sign, no leading zeros. */
const plainInteger = /^(0|-?[1-9][0-9]*)$/;

/** It is the taint's value that is greater or less than the toleration's. */
function comparesAs(operator: "Gt" | "Lt", actual: string, bound: string): boolean {
  if (!plainInteger.test(actual) || !plainInteger.test(bound)) return false;
  const [left, right] = [parseInt64(actual), parseInt64(bound)];
  if (left === undefined || right === undefined) return false;
  return operator === "Gt" ? left > right : left < right;
}
