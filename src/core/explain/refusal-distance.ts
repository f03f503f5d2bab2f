import { Quantity } from "../../util/quantity.ts";
import type { NodeFinding, PoolFinding, RefusalReason } from "./explanation.ts";

/** 1 for most reasons, less where figures say how near the pod came. */
function reasonDistance(reason: RefusalReason): number {
  switch (reason.code) {
    case "resources":
      return 0.2 + 0.8 * missingShare(parsed(reason.asked), parsed(reason.available));
    case "limits":
    case "node-limit":
      return 0.6;
    case "topology":
      return 0.7;
    case "reserved-capacity":
      return 0.1;
    case "min-values":
      return 0.5;
    default:
      return 1;
  }
}

/** The part of what is asked for that is not there, 0 to 1. */
export function missingShare(asked: Quantity, available: Quantity): number {
  const [want, have] = [asked.toNumber(), available.toNumber()];
  return want <= 0 ? 1 : Math.min(1, Math.max(0, (want - Math.max(0, have)) / want));
}

function parsed(written: string): Quantity {
  return Quantity.tryParse(written) ?? Quantity.zero;
}

export function totalDistance(reasons: readonly RefusalReason[]): number {
  return reasons.reduce((sum, reason) => sum + reasonDistance(reason), 0);
}

/** Nearest first; equal ones in the order they were tried. */
export function poolsByDistance(findings: readonly PoolFinding[]): readonly PoolFinding[] {
  return sortByDistance(findings, ({ reasons }) => totalDistance(reasons));
}

export function nodesByDistance(findings: readonly NodeFinding[]): readonly NodeFinding[] {
  return sortByDistance(findings, ({ checks }) => totalDistance(checks.map(({ reason }) => reason)));
}

function sortByDistance<T>(findings: readonly T[], distanceOf: (finding: T) => number): readonly T[] {
  return findings
    .map((finding) => ({ finding, distance: distanceOf(finding) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ finding }) => finding);
}
