/** Stands for no duration in nillable duration fields. (01 §0.3) */
export const neverDuration = "Never";
export type NeverDuration = typeof neverDuration;

const nsPerMs = 1_000_000n;
const maxNs = 2n ** 63n - 1n; // about 292 years, the range of Go's time.Duration

const unitNs: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // micro sign
  μs: 1_000n, // Greek mu
  ms: nsPerMs,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const component = /(?=\.?\d)(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy;

/**
 * Parses Go's duration syntax ("1h30m", "1.5s", "-500us", "0") into nanoseconds; undefined if the text is not a duration
 * or out of Go's range. Fractions of a nanosecond are cut off.
 */
export function parseDurationNs(text: string): bigint | undefined {
  const isNegative = text.startsWith("-");
  const unsigned = isNegative || text.startsWith("+") ? text.slice(1) : text;
  const ns = unsigned === "0" ? 0n : sumOfComponents(unsigned);
  if (ns === undefined || ns > (isNegative ? maxNs + 1n : maxNs)) return undefined;
  return isNegative ? -ns : ns;
}

/** Like parseDurationNs, in milliseconds. */
export function parseDurationMs(text: string): number | undefined {
  const ns = parseDurationNs(text);
  return ns === undefined ? undefined : toMs(ns);
}

/** Like parseDurationMs, for fields that also accept `Never`. (01 §0.3) */
export function parseNillableDurationMs(text: string): number | NeverDuration | undefined {
  return text === neverDuration ? neverDuration : parseDurationMs(text);
}

/** Formats milliseconds as Go does: "48h0m0s", "1.5s", "500ms", "0s"; rounded to a nanosecond. */
export function formatDurationMs(ms: number): string {
  const wholeMs = Math.trunc(ms);
  const ns = BigInt(wholeMs) * nsPerMs + BigInt(Math.round((ms - wholeMs) * 1e6));
  return ns < 0n ? `-${formatNs(-ns)}` : formatNs(ns);
}

/** Rounds once: a division is exact up to 2^53 nanoseconds, beyond that parsing a decimal literal rounds only once. */
function toMs(ns: bigint): number {
  const approximate = Number(ns);
  return Number.isSafeInteger(approximate) ? approximate / 1e6 : Number(`${ns}e-6`);
}

function sumOfComponents(text: string): bigint | undefined {
  let sum = 0n;
  let read = 0;
  for (const [all, integer = "", fraction = "", unit = ""] of text.matchAll(component)) {
    const ns = componentNs({ integer, fraction, unit: unitNs[unit] ?? 0n });
    if (ns === undefined) return undefined;
    sum += ns;
    read += all.length;
  }
  return read > 0 && read === text.length ? sum : undefined;
}

function componentNs({ integer, fraction, unit }: { integer: string; fraction: string; unit: bigint }) {
  const digits = integer.replace(/^0+/, "");
  if (digits.length > 19) return undefined; // out of range in any unit
  const significant = fraction.slice(0, 18); // further digits are less than a nanosecond, even of hours
  return BigInt(digits) * unit + (BigInt(significant) * unit) / 10n ** BigInt(significant.length);
}

function formatNs(ns: bigint): string {
  if (ns === 0n) return "0s";
  if (ns < 1_000n) return `${ns}ns`;
  if (ns < nsPerMs) return `${decimal(ns, 3)}µs`;
  if (ns < 1_000_000_000n) return `${decimal(ns, 6)}ms`;
  const minutes = ns / 60_000_000_000n;
  const seconds = `${decimal(ns % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** value / 10^places, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const scale = 10n ** BigInt(places);
  const fraction = `${value % scale}`.padStart(places, "0").replace(/0+$/, "");
  return fraction === "" ? `${value / scale}` : `${value / scale}.${fraction}`;
}

/** `30d`, `2w` and `1d12h` in hours, as durations have no days: `720h`. Undefined if the text is nothing of that kind. */
export function hoursForDays(text: string): string | undefined {
  const [, weeks = "0", days = "0", rest = ""] = /^(?:(\d{1,6})w)?(?:(\d{1,6})d)?(.*)$/.exec(text) ?? [];
  if (weeks === "0" && days === "0") return undefined;
  const restNs = rest === "" ? 0n : parseDurationNs(rest);
  if (restNs === undefined || restNs < 0n) return undefined;
  const ns = (BigInt(weeks) * 7n + BigInt(days)) * 86_400_000_000_000n + restNs;
  const written = formatNs(ns);
  return written.replace(/m0s$/, "m").replace(/h0m$/, "h");
}
