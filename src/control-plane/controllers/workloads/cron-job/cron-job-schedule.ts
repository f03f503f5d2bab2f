import { readSchedule } from "../../../../api/budgets/cron.ts";
import { nextHit } from "../../../../api/budgets/schedule.ts";
import { parseDurationMs } from "../../../../util/duration.ts";

export interface CronJobSchedule {
  /** The first time after the given one. */
  next(afterMs: number): number | undefined;
}

export type CronJobScheduleResult =
  | { readonly kind: "schedule"; readonly schedule: CronJobSchedule }
  | { readonly kind: "error"; readonly message: string };

/** No schedule has a gap longer than this: 29 February comes every eight years at the latest. */
const maxGapMs = 9 * 366 * 86_400_000;

/** Reads `spec.schedule` in a time zone, by default UTC. `@every` counts from `sinceMs`. */
export function parseCronJobSchedule(
  text: string,
  { timeZone, sinceMs }: { readonly timeZone: string | undefined; readonly sinceMs: number },
): CronJobScheduleResult {
  const every = /^@every\s+(.+)$/.exec(text)?.[1];
  if (every !== undefined) return parseFixedInterval(every, sinceMs);
  const reading = readSchedule(text);
  if (reading.kind === "error") return reading;
  const offsetOf = utcOffsetOf(timeZone ?? "UTC");
  if (offsetOf === undefined) return { kind: "error", message: `unknown time zone ${timeZone}` };
  const next = (afterMs: number): number | undefined => {
    // Computed on wall-clock time as if it were UTC; the result is moved back by the offset at that time.
    const local = afterMs + offsetOf(afterMs);
    for (let from = local; ; ) {
      const hit = nextHit(reading.schedule, { afterMs: from, untilMs: local + maxGapMs });
      if (hit === undefined) return undefined;
      const at = hit - offsetOf(hit - offsetOf(hit));
      if (at > afterMs) return at;
      from = hit; // the hour repeats when clocks go back: the first occurrence was already returned
    }
  };
  return { kind: "schedule", schedule: { next } };
}

function parseFixedInterval(text: string, sinceMs: number): CronJobScheduleResult {
  const duration = parseDurationMs(text);
  if (duration === undefined || duration < 1000)
    return { kind: "error", message: `invalid interval ${text}: at least 1s` };
  const next = (afterMs: number): number => sinceMs + (Math.floor((afterMs - sinceMs) / duration) + 1) * duration;
  return { kind: "schedule", schedule: { next } };
}

/** The offset of a time zone from UTC; undefined if the zone is unknown. */
function utcOffsetOf(timeZone: string): ((ms: number) => number) | undefined {
  if (timeZone === "UTC" || timeZone === "Etc/UTC") return () => 0;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    return (ms) => {
      const part = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
      return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
    };
  } catch {
    return undefined; // RangeError: no such zone
  }
}

export interface DueTimes {
  /** The latest start time that was missed. */
  readonly due: number | undefined;
  /** More than 100 start times were missed: the clock jumped or the controller was down. */
  readonly hasTooManyMissed: boolean;
  readonly next: number | undefined;
}

const missedTimesLimit = 100;

/** The latest start time that was missed, and the next one. */
export function dueTimes(
  schedule: CronJobSchedule,
  { sinceMs, now }: { readonly sinceMs: number; readonly now: number },
): DueTimes {
  let due: number | undefined;
  let missed = 0;
  let next = schedule.next(sinceMs);
  while (next !== undefined && next <= now) {
    due = next;
    missed++;
    // Far behind: skipping half of the rest at a time still finds the last one.
    const middle = next + Math.floor((now - next) / 2);
    const skipped = missed > missedTimesLimit ? schedule.next(middle) : undefined;
    next = skipped !== undefined && skipped <= now ? skipped : schedule.next(next);
  }
  return { due, hasTooManyMissed: missed > missedTimesLimit, next };
}
