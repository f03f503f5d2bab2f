const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** How long something is ago or took, in the two largest units at most, as kubectl's columns show it. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / second);
  if (seconds < -1) return "<invalid>"; // a second of difference between two clocks is forgiven
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  if (ms < 10 * minute) return twoUnits(ms, { large: [minute, "m"], small: [second, "s"] });
  if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`;
  if (ms < 8 * hour) return twoUnits(ms, { large: [hour, "h"], small: [minute, "m"] });
  if (ms < 2 * day) return `${Math.floor(ms / hour)}h`;
  if (ms < 8 * day) return twoUnits(ms, { large: [day, "d"], small: [hour, "h"] });
  if (ms < 2 * year) return `${Math.floor(ms / day)}d`;
  if (ms < 8 * year) return twoUnits(ms, { large: [year, "y"], small: [day, "d"] });
  return `${Math.floor(ms / year)}y`;
}

type Unit = readonly [size: number, letter: string];

function twoUnits(ms: number, { large, small }: { readonly large: Unit; readonly small: Unit }): string {
  const rest = Math.floor((ms % large[0]) / small[0]);
  return `${Math.floor(ms / large[0])}${large[1]}${rest === 0 ? "" : `${rest}${small[1]}`}`;
}

/** The age of a timestamp as the API writes it. */
export function ageOf(timestamp: unknown, now: number): string {
  if (typeof timestamp !== "string" || timestamp === "") return "<unknown>";
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? "<unknown>" : humanDuration(now - then);
}
