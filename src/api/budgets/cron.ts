import type { Schedule } from "./schedule.ts";

/**
 * The cron dialect of disruption budgets: five fields, UTC. (01 §5.3)
 *
 * Hits are computed here rather than by a cron library: having read the fields strictly we already hold the sets of
 * values, and a library would read the text a second time with a wider dialect and other rules for `?`, a stepped star and
 * day-of-month against day-of-week.
 */
export type ScheduleReading =
  | { readonly kind: "schedule"; readonly schedule: Schedule }
  | { readonly kind: "error"; readonly message: string };

const aliases: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

interface CronField {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const cronFields = [
  { name: "minute", min: 0, max: 59, names: [] },
  { name: "hour", min: 0, max: 23, names: [] },
  { name: "day of month", min: 1, max: 31, names: [] },
  { name: "month", min: 1, max: 12, names: "jan feb mar apr may jun jul aug sep oct nov dec".split(" ") },
  { name: "day of week", min: 0, max: 6, names: "sun mon tue wed thu fri sat".split(" ") },
] as const satisfies readonly CronField[];

/** Parses a schedule strictly: what the looser admission pattern lets through is an error here. */
export function readSchedule(text: string): ScheduleReading {
  if (text.startsWith("@") && !aliases.has(text)) {
    return { kind: "error", message: `unknown schedule ${text}; known schedules: ${[...aliases.keys()].join(", ")}` };
  }
  const parts = (aliases.get(text) ?? text).split(/\s+/).filter((part) => part !== "");
  if (parts.length !== cronFields.length) {
    return {
      kind: "error",
      message: `expected 5 fields (minute hour day month weekday), found ${parts.length}: ${text}`,
    };
  }
  try {
    return { kind: "schedule", schedule: scheduleOf(parts) };
  } catch (error) {
    if (error instanceof CronError) return { kind: "error", message: error.message };
    throw error;
  }
}

/** Thrown and caught in this file only, so that nested parsing need not pass errors up. */
class CronError extends Error {}

function scheduleOf(parts: readonly string[]): Schedule {
  const [minute, hour, dayOfMonth, month, dayOfWeek] = cronFields.map((field, index) =>
    readField(parts[index] ?? "", field),
  );
  const none: CronFieldValues = { values: new Set(), isOpen: false };
  const [monthDays = none, weekDays = none] = [dayOfMonth, dayOfWeek];
  const schedule: Schedule = {
    minutes: (minute ?? none).values,
    hours: (hour ?? none).values,
    daysOfMonth: monthDays.values,
    months: (month ?? none).values,
    daysOfWeek: weekDays.values,
    isEitherDay: !monthDays.isOpen && !weekDays.isOpen,
  };
  if (!canEverOccur(schedule)) throw new CronError(`no such date exists: ${parts.join(" ")}`);
  return schedule;
}

interface CronFieldValues {
  readonly values: ReadonlySet<number>;
  /** `*` or `?`, also inside a list; a step above one closes it. */
  readonly isOpen: boolean;
}

function readField(text: string, field: CronField): CronFieldValues {
  const ranges = text.split(",").filter((part) => part !== "");
  if (ranges.length === 0) throw new CronError(`empty ${field.name}: ${text}`);
  const read = ranges.map((range) => readRange(range, field));
  return { values: new Set(read.flatMap(({ values }) => values)), isOpen: read.some(({ isOpen }) => isOpen) };
}

/** `*`, `?`, `n`, `a-b`, each with an optional `/step`; `n/step` runs to the field's end. */
function readRange(text: string, field: CronField): { readonly values: readonly number[]; readonly isOpen: boolean } {
  const [range = "", stepText, ...moreSteps] = text.split("/");
  if (moreSteps.length > 0) throw new CronError(`too many slashes in ${field.name}: ${text}`);
  const step = stepText === undefined ? 1 : readInteger(stepText, { field, text });
  if (step === 0) throw new CronError(`step of ${field.name} must be positive: ${text}`);
  if (range === "*" || range === "?") return { values: valuesInSteps(field.min, field.max, step), isOpen: step === 1 };
  const { start, end } = readBounds(range, { field, text, isStepped: stepText !== undefined });
  return { values: valuesInSteps(start, end, step), isOpen: false };
}

function readBounds(range: string, { field, text, isStepped }: { field: CronField; text: string; isStepped: boolean }) {
  const [low = "", high, ...more] = range.split("-");
  if (more.length > 0) throw new CronError(`too many hyphens in ${field.name}: ${text}`);
  const start = readValue(low, { field, text });
  const end = high === undefined ? (isStepped ? field.max : start) : readValue(high, { field, text });
  if (start < field.min) throw new CronError(`${field.name} ${start} is below ${field.min}: ${text}`);
  if (end > field.max) throw new CronError(`${field.name} ${end} is above ${field.max}: ${text}`);
  if (start > end) throw new CronError(`${field.name} range runs backwards, from ${start} to ${end}: ${text}`);
  return { start, end };
}

function readValue(value: string, context: { field: CronField; text: string }): number {
  const named = context.field.names.indexOf(value.toLowerCase());
  return named < 0 ? readInteger(value, context) : named + context.field.min;
}

function readInteger(value: string, { field, text }: { field: CronField; text: string }): number {
  if (!/^\d{1,9}$/.test(value)) throw new CronError(`${JSON.stringify(value)} is not a valid ${field.name}: ${text}`);
  return Number(value);
}

function valuesInSteps(start: number, end: number, step: number): readonly number[] {
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step);
}

const longestMonth: readonly number[] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

// 30 February: upstream treats a schedule that never hits as always active; here it is an error.
function canEverOccur({ daysOfMonth, months, isEitherDay }: Schedule): boolean {
  if (isEitherDay) return true;
  const firstDay = Math.min(...daysOfMonth);
  return [...months].some((month) => firstDay <= (longestMonth[month - 1] ?? 0));
}
