import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/runs.ts";
import { formatDurationMs, neverDuration, parseDurationMs, parseNillableDurationMs } from "./duration.ts";

const unitMs = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

describe("durations", () => {
  it.each([
    // Results of Go's time.ParseDuration, in milliseconds.
    ["0", 0],
    ["+0", 0],
    ["-0", 0],
    ["0s", 0],
    ["5s", 5_000],
    ["-5s", -5_000],
    ["+5s", 5_000],
    ["1h30m5s", 5_405_000],
    ["5s1h", 3_605_000],
    ["1m1m", 120_000],
    ["48h", 172_800_000],
    ["720h", 2_592_000_000],
    ["1.5h", 5_400_000],
    [".5s", 500],
    ["1.s", 1_000],
    ["0.000000001s", 0.000001],
    ["0.0000000019s", 0.000001],
    ["500ms", 500],
    ["500us", 0.5],
    ["500µs", 0.5],
    ["500μs", 0.5],
    ["100ns", 0.0001],
    ["0.3333333333333333333h", 1_199_999.999999],
    ["9223372036854775807ns", 9_223_372_036_854.775],
    ["-9223372036854775808ns", -9_223_372_036_854.775],
    ["2562047h47m16.854775807s", 9_223_372_036_854.775],
  ])("01 §0.3 reads %s", (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    ...["", "-", "+", ".", "s", ".s", "1", "1d", "1w", "1 s", " 1s", "1s ", "--1s", "1s-1m", "1.2.3s", "1,5s"],
    ...["Never", "never", "1H", "1S", "1e3s", "∞", "9223372036854775808ns", "2562048h", "1".repeat(400).concat("h")],
  ])("01 §0.3 refuses %j", (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });

  it("01 §0.3 reads every sum of whole units exactly", () => {
    const component = fc.record({
      count: fc.nat(100_000),
      unit: fc.constantFrom(...(Object.keys(unitMs) as (keyof typeof unitMs)[])),
    });
    fc.assert(
      fc.property(fc.array(component, { minLength: 1, maxLength: 5 }), fc.constantFrom("", "-"), (components, sign) => {
        const text = sign + components.map(({ count, unit }) => `${count}${unit}`).join("");
        const ms = components.reduce((sum, { count, unit }) => sum + count * unitMs[unit], 0);
        expect(parseDurationMs(text)).toBe(sign === "-" && ms !== 0 ? -ms : ms);
      }),
      { numRuns: runs(10_000) },
    );
  });

  it.each([
    [0, "0s"],
    [-0, "0s"],
    [172_800_000, "48h0m0s"],
    [5_405_000, "1h30m5s"],
    [60_000, "1m0s"],
    [1_500, "1.5s"],
    [1_000, "1s"],
    [500, "500ms"],
    [1.5, "1.5ms"],
    [0.5, "500µs"],
    [0.0015, "1.5µs"],
    [0.0001, "100ns"],
    [0.0000001, "0s"],
    [-90_000, "-1m30s"],
    [3_600_001, "1h0m0.001s"],
    [9_223_372_036_854, "2562047h47m16.854s"],
  ])("01 §0.3 writes %d ms as Go does", (ms, text) => {
    expect(formatDurationMs(ms)).toBe(text);
  });

  it("01 §0.3 reads back what it writes", () => {
    const durations = fc.oneof(
      fc.integer({ min: -(10 ** 12), max: 10 ** 12 }),
      fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((ns) => ns / 1e6),
    );
    fc.assert(
      fc.property(durations, (ms) => {
        expect(parseDurationMs(formatDurationMs(ms))).toBe(ms + 0);
      }),
      { numRuns: runs(10_000) },
    );
  });

  it("01 §0.3 parses Never as no duration where that is allowed", () => {
    expect(["Never", "30s", "never", ""].map(parseNillableDurationMs)).toEqual([
      neverDuration,
      30_000,
      undefined,
      undefined,
    ]);
  });
});
