import { rfc3339 } from "../../util/timestamp.ts";
import { hoursPerMonth } from "../plan/plan-report.ts";
import { addAmounts, noAmounts, type ShownAmounts } from "./pod-use.ts";
import { pendingPodCount, type TopCluster, type TopReason, type TopRow, type TopStatus } from "./top-rows.ts";

/** All nodes at one moment, and their sums. */
export interface TopView {
  readonly rows: readonly TopRow[];
  readonly totals: TopTotals;
  readonly nowMs: number;
  readonly notes: readonly string[];
}

export interface TopTotals {
  readonly nodes: number;
  /** On nodes. */
  readonly pods: number;
  readonly pendingPods: number;
  readonly requested: ShownAmounts;
  readonly allocatable: ShownAmounts;
  /** Of the nodes whose price is known. */
  readonly pricePerHour: number;
  readonly nodesWithoutPrice: number;
}

export function topTotals(rows: readonly TopRow[], { pods }: Pick<TopCluster, "pods">): TopTotals {
  return {
    nodes: rows.length,
    pods: rows.reduce((sum, row) => sum + row.pods, 0),
    pendingPods: pendingPodCount(pods),
    requested: rows.reduce((sum, { requested }) => addAmounts(sum, requested), noAmounts),
    allocatable: rows.reduce((sum, { allocatable }) => addAmounts(sum, allocatable), noAmounts),
    pricePerHour: rows.reduce((sum, { pricePerHour = 0 }) => sum + pricePerHour, 0),
    nodesWithoutPrice: rows.filter(({ pricePerHour }) => pricePerHour === undefined).length,
  };
}

/** As `-o json` prints it: absent is what is not known. Cores, bytes, dollars. */
export function topReport({ rows, totals, nowMs, notes }: TopView): object {
  const { pricePerHour, nodesWithoutPrice, ...sums } = totals;
  return {
    time: rfc3339(nowMs),
    nodes: rows.map(({ createdMs, reason, ...row }) => ({
      ...row,
      ...(createdMs !== undefined && { created: rfc3339(createdMs) }),
      ...(reason !== undefined && { outcome: outcomeOf(row.status, reason), reason: reason.text }),
    })),
    totals: { ...sums, pricePerHour, pricePerMonth: pricePerHour * hoursPerMonth, nodesWithoutPrice },
    notes,
  };
}

/** In the words of `explain node`. */
function outcomeOf(status: TopStatus, { goes }: TopReason): "going" | "would-go" | "kept" {
  if (status === "Deleting") return "going";
  return goes ? "would-go" : "kept";
}
