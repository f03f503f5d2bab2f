import { describe, expect, it } from "vitest";
import { type CronJobSchedule, dueTimes, parseCronJobSchedule } from "./cron-job-schedule.ts";

function schedule(text: string, timeZone?: string, sinceMs = 0): CronJobSchedule {
  const reading = parseCronJobSchedule(text, { timeZone, sinceMs });
  if (reading.kind === "error") throw new Error(reading.message);
  return reading.schedule;
}

function following(table: CronJobSchedule, from: string, count: number): readonly string[] {
  const times: string[] = [];
  for (let at = Date.parse(from); times.length < count; ) {
    at = table.next(at) ?? Number.NaN;
    times.push(new Date(at).toISOString().slice(0, 16));
  }
  return times;
}

describe("the times of cron jobs", () => {
  it("05:CP-L5 are in UTC unless they say otherwise", () => {
    expect(following(schedule("0 3 * * *"), "2026-01-01T03:00:00Z", 2)).toEqual([
      "2026-01-02T03:00",
      "2026-01-03T03:00",
    ]);
    expect(following(schedule("0 3 * * *", "America/New_York"), "2026-01-01T03:00:00Z", 1)).toEqual([
      "2026-01-01T08:00",
    ]);
  });

  it("05:CP-L5 follow the clocks of their zone in spring and autumn", () => {
    const berlin = schedule("30 2 * * *", "Europe/Berlin");
    // On 29 March 02:30 does not exist there; on 25 October it comes twice.
    expect(following(berlin, "2026-03-27T12:00:00Z", 3)).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:30",
      "2026-03-30T00:30",
    ]);
    const days = following(berlin, "2026-10-23T12:00:00Z", 4).map((time) => time.slice(0, 10));
    expect(days).toEqual(["2026-10-24", "2026-10-25", "2026-10-26", "2026-10-27"]);
  });

  it("05:CP-L5 may be every so long after the last", () => {
    const since = Date.parse("2026-01-01T00:00:30Z");
    expect(following(schedule("@every 90s", undefined, since), "2026-01-01T00:00:30Z", 2)).toEqual([
      "2026-01-01T00:02",
      "2026-01-01T00:03",
    ]);
  });

  it.each([
    ["* * * *", undefined],
    ["@reboot", undefined],
    ["@every often", undefined],
    ["0 3 * * *", "Mars/Base"],
  ])("05:CP-L5 %s in %s is an error, not a crash", (text, timeZone) => {
    expect(parseCronJobSchedule(text, { timeZone, sinceMs: 0 }).kind).toBe("error");
  });

  it("05:CP-L5 of many that were missed the last one is due", () => {
    const table = schedule("*/7 * * * *");
    const now = Date.parse("2026-06-01T12:00:30Z");
    const slow = (sinceMs: number) => {
      let due: number | undefined;
      for (let at = table.next(sinceMs); at !== undefined && at <= now; at = table.next(at)) due = at;
      return due;
    };
    for (const ago of [0, 30_000, 3_600_000, 86_400_000, 30 * 86_400_000]) {
      const found = dueTimes(table, { sinceMs: now - ago, now });
      expect(found.due).toBe(slow(now - ago));
      expect(found.next).toBe(table.next(now));
      expect(found.hasTooManyMissed).toBe(ago > 3_600_000 * 12);
    }
  });
});
