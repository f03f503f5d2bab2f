/** The minutes at which a budget's window opens, in UTC. */
export interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly daysOfWeek: ReadonlySet<number>;
  /** With both day fields restricted a day matches when either does; with one open, the other alone decides. */
  readonly isEitherDay: boolean;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The first hit strictly after `afterMs` and not later than `untilMs`. */
export function nextHit(
  schedule: Schedule,
  { afterMs, untilMs }: { readonly afterMs: number; readonly untilMs: number },
) {
  const earliest = (Math.floor(afterMs / minuteMs) + 1) * minuteMs;
  for (let day = Math.floor(earliest / dayMs) * dayMs; day <= untilMs; day += dayMs) {
    if (!isHitDay(schedule, new Date(day))) continue;
    const hit = firstHitOf(schedule, { day, earliest });
    if (hit !== undefined) return hit <= untilMs ? hit : undefined;
  }
  return undefined;
}

function isHitDay({ months, daysOfMonth, daysOfWeek, isEitherDay }: Schedule, day: Date): boolean {
  if (!months.has(day.getUTCMonth() + 1)) return false;
  const isMonthDay = daysOfMonth.has(day.getUTCDate());
  const isWeekDay = daysOfWeek.has(day.getUTCDay());
  return isEitherDay ? isMonthDay || isWeekDay : isMonthDay && isWeekDay;
}

function firstHitOf({ hours, minutes }: Schedule, { day, earliest }: { day: number; earliest: number }) {
  const from = Math.max(0, (earliest - day) / minuteMs);
  for (let minute = from; minute < dayMs / minuteMs; minute++) {
    if (minutes.has(minute % 60) && hours.has(Math.floor(minute / 60))) return day + minute * minuteMs;
  }
  return undefined;
}
