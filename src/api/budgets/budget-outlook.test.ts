import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowedDisruptions, availableDisruptions, type Budget } from "./budget.ts";
import { budgetOutlook } from "./budget-outlook.ts";

const now = Date.parse("2026-01-15T12:00:00Z"); // a Thursday
const at = (text: string): number => Date.parse(text);
const query = { reason: "Underutilized", nodes: 10, disrupting: 0, nowMs: now } as const;

describe("budgetOutlook", () => {
  it.each<[string, readonly Budget[] | undefined, string | undefined]>([
    ["03:D-21 no budgets: ten percent", undefined, "2026-01-15T12:00:00Z"],
    ["03:D-25 the end of the window", [{ nodes: "0", schedule: "0 9 * * *", duration: "8h" }], "2026-01-15T17:00:00Z"],
    [
      "03:D-25 windows that overlap are one",
      [{ nodes: "0", schedule: "0 9,16 * * *", duration: "8h" }],
      "2026-01-16T00:00:00Z",
    ],
    [
      "03:D-25 one that begins as the other ends",
      [{ nodes: "0", schedule: "0 0,12 * * *", duration: "12h" }],
      undefined,
    ],
    [
      "03:D-21 the last of several windows",
      [
        { nodes: "0", schedule: "0 9 * * *", duration: "8h" },
        { nodes: "0", schedule: "0 16 * * *", duration: "4h" },
      ],
      "2026-01-15T20:00:00Z",
    ],
    ["03:D-21 one without a window never opens", [{ nodes: "0" }], undefined],
    ["03:D-21 one for another reason does not matter", [{ nodes: "0", reasons: ["Empty"] }], "2026-01-15T12:00:00Z"],
    [
      "03:D-23 a broken one blocks every reason",
      [{ nodes: "0", schedule: "x", duration: "1h", reasons: ["Empty"] }],
      undefined,
    ],
  ])("%s", (_, budgets, expected) => {
    expect(budgetOutlook(budgets, query).opensAtMs).toBe(expected === undefined ? undefined : at(expected));
  });

  it("03:D-25 names what holds: position, limit and the end of the window", () => {
    const budgets = [{ nodes: "50%" }, { nodes: "1", schedule: "@daily", duration: "13h" }];
    expect(budgetOutlook(budgets, { ...query, disrupting: 1 })).toEqual({
      binding: [{ index: 1, budget: budgets[1], limit: 1, untilMs: at("2026-01-15T13:00:00Z") }],
      opensAtMs: at("2026-01-15T13:00:00Z"),
    });
  });

  it("03:D-25 is the first minute at which a disruption is allowed", () => {
    const field = (max: number) => fc.oneof(fc.constant("*"), fc.integer({ min: 0, max }).map(String));
    const budget = fc.record({
      nodes: fc.constantFrom("0", "1", "10%", "100%"),
      schedule: fc
        .tuple(fc.constantFrom("0", "30", "*/20"), field(23), fc.constantFrom("*", "1-5"))
        .map(([m, h, d]) => `${m} ${h} * * ${d}`),
      duration: fc.constantFrom("10m", "1h", "8h", "30h"),
    });
    const horizon = 26 * 60;
    fc.assert(
      fc.property(
        fc.array(budget, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 2 }),
        (budgets, disrupting) => {
          const isOpen = (nowMs: number): boolean =>
            availableDisruptions(allowedDisruptions(budgets, { ...query, nowMs }).allowed, disrupting) > 0;
          let minutes = 0;
          while (minutes <= horizon && !isOpen(now + minutes * 60_000)) minutes++;
          const { opensAtMs } = budgetOutlook(budgets, { ...query, disrupting });
          const found = opensAtMs === undefined ? Number.POSITIVE_INFINITY : (opensAtMs - now) / 60_000;
          if (minutes > horizon) expect(found).toBeGreaterThan(horizon);
          else expect(found).toBe(minutes);
        },
      ),
      { numRuns: 25 },
    );
  });
});
