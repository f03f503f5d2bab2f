const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const yearMs = 365 * dayMs;

/** A duration in at most two units, as kubectl's columns show it. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / secondMs);
  if (seconds < -1) return "<invalid>"; // clocks may differ by a second
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  if (ms < 10 * minuteMs) return twoUnits(ms, { large: [minuteMs, "m"], small: [secondMs, "s"] });
  if (ms < 3 * hourMs) return `${Math.floor(ms / minuteMs)}m`;
  if (ms < 8 * hourMs) return twoUnits(ms, { large: [hourMs, "h"], small: [minuteMs, "m"] });
  if (ms < 2 * dayMs) return `${Math.floor(ms / hourMs)}h`;
  if (ms < 8 * dayMs) return twoUnits(ms, { large: [dayMs, "d"], small: [hourMs, "h"] });
  if (ms < 2 * yearMs) return `${Math.floor(ms / dayMs)}d`;
  if (ms < 8 * yearMs) return twoUnits(ms, { large: [yearMs, "y"], small: [dayMs, "d"] });
  return `${Math.floor(ms / yearMs)}y`;
}

type Unit = readonly [size: number, letter: string];

function twoUnits(ms: number, { large, small }: { readonly large: Unit; readonly small: Unit }): string {
  const rest = Math.floor((ms % large[0]) / small[0]);
  return `${Math.floor(ms / large[0])}${large[1]}${rest === 0 ? "" : `${rest}${small[1]}`}`;
}

/** The age of an API timestamp. */
export function ageOf(timestamp: unknown, now: number): string {
  if (typeof timestamp !== "string" || timestamp === "") return "<unknown>";
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "<unknown>" : humanDuration(now - then);
}
