import { expect, it } from "vitest";
import { ask, cluster, machine, now, pool } from "./cluster.ts";

const hourMs = 3_600_000;
/** A Monday, midnight. */
const monday = Date.parse("2026-01-12T00:00:00Z");
const budgets = [
  // Drift only on Saturdays; what is underused not in working hours; nothing at all in the night to Wednesday.
  { nodes: "0", reasons: ["Drifted"], schedule: "0 0 * * sun-fri", duration: "24h" },
  { nodes: "0", reasons: ["Underutilized"], schedule: "0 9 * * mon-fri", duration: "8h" },
  { nodes: "0", schedule: "0 22 * * tue", duration: "8h" },
  { nodes: "100%" },
];
const objects = [
  pool({ disruption: { budgets } }),
  machine("empty", {}),
  machine("underused", { pods: [{}] }),
  machine("drifted", { pods: [{ cpu: "7" }], conditions: ["Drifted", "Consolidatable=False"] }),
];

/** Which reasons a node may go for in an hour, told from the calendar alone. */
function expected(atMs: number): readonly string[] {
  const date = new Date(atMs);
  const [day, hour] = [date.getUTCDay(), date.getUTCHours()];
  const isNight = (day === 2 && hour >= 22) || (day === 3 && hour < 6);
  const isWorking = day >= 1 && day <= 5 && hour >= 9 && hour < 17;
  if (isNight) return [];
  return ["empty", ...(day === 6 ? ["drifted"] : []), ...(isWorking ? [] : ["underused"])];
}

it("03:D-21 03:D-25 budgets by reason and schedule: every hour of a week what may go goes, and nothing else", () => {
  expect(now).toBeGreaterThan(monday);
  for (let hour = 0; hour < 7 * 24; hour++) {
    const nowMs = monday + 7 * 24 * hourMs + hour * hourMs;
    const snapshot = cluster(objects, { nowMs });
    const going = (["emptiness", "drift", "single-node-consolidation"] as const).flatMap((method) =>
      ask(snapshot, method).commands.flatMap(({ candidates }) => candidates.map(({ name }) => name)),
    );
    expect([new Date(nowMs).toISOString(), going]).toEqual([new Date(nowMs).toISOString(), expected(nowMs)]);
  }
});
