import { describe, expect, it } from "vitest";
import { readSchedule } from "./cron.ts";
import { nextHit, type Schedule } from "./schedule.ts";

const from = Date.parse("2026-06-16T12:00:00Z"); // a Tuesday

function schedule(text: string): Schedule {
  const reading = readSchedule(text);
  if (reading.kind === "error") throw new Error(reading.message);
  return reading.schedule;
}

function hits(text: string, count = 1): readonly string[] {
  const found: string[] = [];
  let afterMs = from;
  while (found.length < count) {
    const hit = nextHit(schedule(text), { afterMs, untilMs: Number.MAX_SAFE_INTEGER });
    if (hit === undefined) break;
    found.push(`${new Date(hit).toISOString().slice(0, 16)}Z`);
    afterMs = hit;
  }
  return found;
}

describe("cron dialect", () => {
  it.each([
    ["@yearly", "2027-01-01T00:00Z"],
    ["@annually", "2027-01-01T00:00Z"],
    ["@monthly", "2026-07-01T00:00Z"],
    ["@weekly", "2026-06-21T00:00Z"],
    ["@daily", "2026-06-17T00:00Z"],
    ["@midnight", "2026-06-17T00:00Z"],
    ["@hourly", "2026-06-16T13:00Z"],
    ["* * * * *", "2026-06-16T12:01Z"],
    ["? ? ? ? ?", "2026-06-16T12:01Z"],
    ["  0   9\t* * mon-fri ", "2026-06-17T09:00Z"],
    ["0 9 * * MON-Fri", "2026-06-17T09:00Z"],
    ["0 0 1 JAN,dec *", "2026-12-01T00:00Z"],
    ["15,45 10-14/2 * * *", "2026-06-16T12:15Z"],
    ["50/5 * * * *", "2026-06-16T12:50Z"],
    ["0 0 29 2 *", "2028-02-29T00:00Z"],
    ["0 0 1,,15 * *", "2026-07-01T00:00Z"],
    ["0 0 13 * 5", "2026-06-19T00:00Z"],
    ["0 0 13 * *", "2026-07-13T00:00Z"],
    ["0 0 * * 5", "2026-06-19T00:00Z"],
    ["0 0 */1 * 5", "2026-06-19T00:00Z"],
  ])("01 §5.3 %j next hits at %s", (text, expected) => {
    expect(hits(text)).toEqual([expected]);
  });

  it("01 §5.3 with both day fields restricted either makes a day match", () => {
    expect(hits("0 0 20 * fri", 4)).toEqual([
      "2026-06-19T00:00Z",
      "2026-06-20T00:00Z",
      "2026-06-26T00:00Z",
      "2026-07-03T00:00Z",
    ]);
  });

  it("01 §5.3 a stepped star is a restriction", () => {
    expect(hits("0 0 */20 * fri", 4)).toEqual([
      "2026-06-19T00:00Z",
      "2026-06-21T00:00Z",
      "2026-06-26T00:00Z",
      "2026-07-01T00:00Z",
    ]);
  });

  it("03:D-25 the next hit is strictly later, and not beyond the horizon", () => {
    const noonHits = schedule("0 12 * * *");
    expect(nextHit(noonHits, { afterMs: from, untilMs: from + 86_399_999 })).toBeUndefined();
    expect(nextHit(noonHits, { afterMs: from, untilMs: from + 86_400_000 })).toBe(from + 86_400_000);
    expect(nextHit(noonHits, { afterMs: from - 1, untilMs: from })).toBe(from);
  });

  it.each([
    ["@dailyfoo", "@dailyfoo"],
    ["@hourly x", "@hourly x"],
    ["@every 1h", "@every"],
    ["@Daily", "@Daily"],
    ["0 0 * * * *", "found 6"],
    ["TZ=UTC 0 0 * * *", "found 6"],
    ["CRON_TZ=Europe/Rome 0 0 * * *", "found 6"],
    ["* * * *", "found 4"],
    ["", "found 0"],
    ["constructor", "found 1"],
    ["60 * * * *", "above 59"],
    ["* 24 * * *", "above 23"],
    ["* * 0 * *", "below 1"],
    ["* * 32 * *", "above 31"],
    ["* * * 0 *", "below 1"],
    ["* * * 13 *", "above 12"],
    ["* * * * 7", "above 6"],
    ["* * * * tue-mon", "tue-mon"],
    ["30-10 * * * *", "30-10"],
    ["*/0 * * * *", "*/0"],
    ["1-2-3 * * * *", "1-2-3"],
    ["1/2/3 * * * *", "1/2/3"],
    ["-5 * * * *", "-5"],
    ["a * * * *", '"a"'],
    ["mon * * * *", '"mon"'],
    ["*-5 * * * *", '"*"'],
    ["1.5 * * * *", "1.5"],
    [", * * * *", "empty minute"],
    ["* * L * *", '"L"'],
    ["* * * * fri#2", "fri#2"],
    ["0 0 15W * *", "15W"],
    ["0 0 30 2 *", "no such date"],
    ["0 0 31 4,6,9,11 *", "no such date"],
  ])("01 §5.3 %j is refused", (text, named) => {
    const reading = readSchedule(text);
    expect(reading.kind).toBe("error");
    expect(reading.kind === "error" && reading.message.includes(named)).toBe(true);
  });
});
