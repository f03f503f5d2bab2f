import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import {
  allowedDisruptions,
  availableDisruptions,
  type Budget,
  budgetActivity,
  unlimitedDisruptions,
} from "./budget.ts";

const minute = 60_000;
const noon = Date.parse("2026-06-16T12:00:00Z"); // a Tuesday
const reasons = ["Underutilized", "Empty", "Drifted"] as const;

function allowed(budgets: readonly Budget[] | undefined, { nodes = 10, nowMs = noon } = {}): readonly number[] {
  return reasons.map((reason) => allowedDisruptions(budgets, { reason, nodes, nowMs }).allowed);
}

const activeNow = { schedule: "0 12 * * *", duration: "1h" };
const inactiveNow = { schedule: "0 13 * * *", duration: "1h" };

describe("allowedDisruptions", () => {
  it("01 §5.3 an active 0 blocks every reason", () => {
    expect(allowed([{ nodes: "100%" }, { nodes: "0", ...activeNow }])).toEqual([0, 0, 0]);
  });

  it("01 §5.3 an inactive budget limits nothing", () => {
    expect(allowed([{ nodes: "0", ...inactiveNow }])).toEqual([
      unlimitedDisruptions,
      unlimitedDisruptions,
      unlimitedDisruptions,
    ]);
    expect(unlimitedDisruptions).toBe(2147483647);
  });

  it("01 §5.3 an inactive budget for a reason is ignored for it too", () => {
    expect(allowed([{ nodes: "3" }, { nodes: "0", reasons: ["Drifted"], ...inactiveNow }])).toEqual([3, 3, 3]);
  });

  it("01 §5.3 without reasons a budget is for all of them", () => {
    expect(allowed([{ nodes: "6" }])).toEqual([6, 6, 6]);
  });

  it("01 §5.3 each reason gets the smallest budget that names it", () => {
    const budgets = [
      { nodes: "100%" },
      { nodes: "4", reasons: ["Underutilized"] },
      { nodes: "5", reasons: ["Empty", "Underutilized"] },
    ];
    expect(allowed(budgets)).toEqual([4, 5, 10]);
  });

  it("03:D-23 a bad schedule in one budget makes every reason 0, whatever reason it is for", () => {
    const bad: Budget = { nodes: "100%", reasons: ["Empty"], schedule: "@dailyfoo", duration: "1h" };
    expect(allowed([{ nodes: "5" }, bad])).toEqual([0, 0, 0]);
    const { problems } = allowedDisruptions([{ nodes: "5" }, bad], { reason: "Drifted", nodes: 10, nowMs: noon });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code: "invalid-value", path: ["spec", "disruption", "budgets", 1] });
    expect(problems[0]?.message).toContain("@dailyfoo");
  });

  it.each(["-1", "ten", "1000%", "101%", "", "1.5", "5 %", "%"])("03:D-23 nodes %j makes every reason 0", (nodes) => {
    expect(allowed([{ nodes }])).toEqual([0, 0, 0]);
    expect(allowed([{ nodes, ...inactiveNow }])).toEqual([0, 0, 0]);
  });

  it("01 §5.3 a count is taken as it is", () => {
    expect(allowed([{ nodes: "10" }], { nodes: 3 })).toEqual([10, 10, 10]);
    expect(allowed([{ nodes: "007" }])).toEqual([7, 7, 7]);
    expect(allowed([{ nodes: "99999999999" }])).toEqual([
      unlimitedDisruptions,
      unlimitedDisruptions,
      unlimitedDisruptions,
    ]);
  });

  it.each([
    ["10%", 100, 10],
    ["10%", 5, 1],
    ["5%", 10, 1],
    ["10%", 1, 1],
    ["0%", 100, 0],
    ["100%", 7, 7],
    ["33%", 10, 4],
    ["50%", 0, 0],
  ])("03:D-22 %s of %i nodes is %i: rounded up", (nodes, count, expected) => {
    expect(allowed([{ nodes }], { nodes: count })).toEqual([expected, expected, expected]);
  });

  it("01 §5.3 absent budgets are one of 10%, an empty list is no limit", () => {
    expect(allowed(undefined, { nodes: 20 })).toEqual([2, 2, 2]);
    expect(allowed([])).toEqual([unlimitedDisruptions, unlimitedDisruptions, unlimitedDisruptions]);
    expect(allowed([{}], { nodes: 20 })).toEqual([2, 2, 2]);
  });

  it("03:D-21 an empty list of reasons applies to none, and says so", () => {
    const budgets = [{ nodes: "0", reasons: [] }];
    expect(allowed(budgets)).toEqual([unlimitedDisruptions, unlimitedDisruptions, unlimitedDisruptions]);
    const { problems, notices } = allowedDisruptions(budgets, { reason: "Empty", nodes: 10, nowMs: noon });
    expect(problems).toEqual([]);
    expect(notices).toMatchObject([{ path: ["spec", "disruption", "budgets", 0, "reasons"], rule: "03:D-21" }]);
    expect(allowedDisruptions([{ nodes: "1" }], { reason: "Empty", nodes: 10, nowMs: noon }).notices).toEqual([]);
  });

  it("03:D-24 nodes already disrupting use the allowance up, never below zero", () => {
    expect(availableDisruptions(3, 2)).toBe(1);
    expect(availableDisruptions(3, 5)).toBe(0);
  });
});

describe("activity", () => {
  const kind = (budget: Budget, index: string) => budgetActivity(budget, Date.parse(index)).kind;

  it("03:D-25 without schedule and duration a budget is always active", () => {
    expect(budgetActivity({ nodes: "1" }, noon).kind).toBe("active");
  });

  it("03:D-25 is UTC, however the clock is written", () => {
    const budget = { schedule: "0 12 * * *", duration: "1h" };
    expect(kind(budget, "2026-06-16T07:30:00-05:00")).toBe("active");
    expect(kind(budget, "2026-06-16T12:30:00-05:00")).toBe("inactive");
  });

  it("03:D-25 is active on [hit, hit + duration)", () => {
    const budget = { schedule: "0 12 * * *", duration: "1h" };
    expect(kind(budget, "2026-06-16T11:59:59.999Z")).toBe("inactive");
    expect(kind(budget, "2026-06-16T12:00:00Z")).toBe("active");
    expect(kind(budget, "2026-06-16T12:59:59.999Z")).toBe("active");
    expect(kind(budget, "2026-06-16T13:00:00Z")).toBe("inactive");
  });

  it("03:D-25 a hit in the middle of the looked-back window counts", () => {
    expect(kind({ schedule: "30 * * * *", duration: "20m" }, "2026-06-16T12:40:00Z")).toBe("active");
    expect(kind({ schedule: "30 * * * *", duration: "20m" }, "2026-06-16T12:20:00Z")).toBe("inactive");
  });

  it("03:D-25 a duration longer than the recurrence never ends", () => {
    for (let hours = 0; hours < 48; hours++) {
      expect(budgetActivity({ schedule: "@daily", duration: "24h" }, noon + hours * 60 * minute).kind).toBe("active");
    }
  });

  it("03:D-25 a hit still ahead does not count", () => {
    expect(kind({ schedule: "0 13 * * *", duration: "2h" }, "2026-06-16T12:59:00Z")).toBe("inactive");
  });

  it("01 §5.3 a parse error names the bad range", () => {
    const outcome = budgetActivity({ schedule: "0 12 * * tue-mon", duration: "1h" }, noon);
    expect(outcome).toMatchObject({ kind: "error" });
    expect(outcome.kind === "error" && outcome.message).toContain("tue-mon");
  });

  it("01:NP4 half a window is an error", () => {
    expect(budgetActivity({ schedule: "@daily" }, noon).kind).toBe("error");
    expect(budgetActivity({ duration: "1h" }, noon).kind).toBe("error");
    expect(budgetActivity({ schedule: "@daily", duration: "soon" }, noon).kind).toBe("error");
  });

  it("03:D-25 agrees with asking minute by minute", () => {
    const part = (max: number, min = 0) =>
      fc.oneof(
        { weight: 2, arbitrary: fc.constant("*") },
        fc.integer({ min, max }).map(String),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
          .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
        fc.integer({ min: 1, max: 12 }).map((step) => `*/${step}`),
        fc.array(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map((list) => list.join(",")),
      );
    const fields = fc.tuple(part(59), part(23), part(28, 1), fc.constantFrom("*", "6", "1-12/5"), part(6));
    const durations = fc.integer({ min: 1, max: 3 * 24 * 60 });
    const moments = fc.integer({ min: 0, max: 40 * 24 * 60 * 60 }).map((seconds) => noon + seconds * 1000);
    fc.assert(
      fc.property(fields, durations, moments, (parts, minutes, nowMs) => {
        const budget = { schedule: parts.join(" "), duration: `${minutes}m` };
        expect(budgetActivity(budget, nowMs).kind).toBe(
          slowlyActive(parts, { minutes, nowMs }) ? "active" : "inactive",
        );
      }),
      { numRuns: runs(5_000) },
    );
  }, 60_000);
});

/** Looks at every minute of the window and asks each field in turn. */
function slowlyActive(parts: readonly string[], { minutes, nowMs }: { minutes: number; nowMs: number }): boolean {
  const latest = Math.floor(nowMs / minute) * minute;
  for (let index = latest; index > nowMs - minutes * minute; index -= minute)
    if (slowlyHits(parts, new Date(index))) return true;
  return false;
}

function slowlyHits(
  [minuteText = "", hour = "", dom = "", month = "", dow = ""]: readonly string[],
  index: Date,
): boolean {
  const isDom = slowlyMatches(dom, index.getUTCDate(), 1);
  const isDow = slowlyMatches(dow, index.getUTCDay(), 0);
  const isOpen = (text: string) => text === "*" || text === "*/1";
  return (
    slowlyMatches(minuteText, index.getUTCMinutes(), 0) &&
    slowlyMatches(hour, index.getUTCHours(), 0) &&
    slowlyMatches(month, index.getUTCMonth() + 1, 1) &&
    (isOpen(dom) || isOpen(dow) ? isDom && isDow : isDom || isDow)
  );
}

function slowlyMatches(text: string, value: number, min: number): boolean {
  return text.split(",").some((item) => {
    const [range = "", step = "1"] = item.split("/");
    const [low = 0, high = low] = range === "*" ? [min, 99] : range.split("-").map(Number);
    return value >= low && value <= high && (value - low) % Number(step) === 0;
  });
}
