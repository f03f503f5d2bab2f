import { type DestinationStream, pino } from "pino";
import type { Clock } from "../util/clock.ts";
import { errorText } from "../util/error-text.ts";
import { type Logger, type LogLevel, type LogValues, loggerTo } from "../util/logger.ts";

export interface JsonLoggerOptions {
  readonly level: LogLevel;
  readonly destination: DestinationStream;
  readonly clock: Pick<Clock, "now">;
  readonly commit: string;
  /** Who writes; `controller` unless given. */
  readonly name?: string | undefined;
}

/** One JSON object a line, as people and machines know Karpenter's log. (03 §6.3) */
export function jsonLogger({ level, destination, clock, commit, name = "controller" }: JsonLoggerOptions): Logger {
  const lines = pino(
    {
      level,
      base: { logger: name },
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label.toUpperCase() }) },
    },
    destination,
  );
  const passes = sampler(clock);
  return loggerTo(({ level: own, message, values }) => {
    if (!lines.isLevelEnabled(own) || !passes(`${own} ${message}`)) return;
    // The message goes with the values, so that it stands before them: the library would put it last.
    lines[own]({ message, commit, ...withErrorText(values) });
  });
}

/** Errors have nothing of their own that JSON would show. */
function withErrorText(values: LogValues): LogValues {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, value instanceof Error ? errorText(value) : value]),
  );
}

const sampleInitial = 100;
const sampleThereafter = 100;

/** Of the same line the first hundred a second pass, then one in a hundred: a log must not drown what it tells. */
function sampler({ now }: Pick<Clock, "now">): (line: string) => boolean {
  const counts = new Map<string, number>();
  let second = 0;
  return (line) => {
    const current = Math.floor(now() / 1_000);
    if (current !== second) counts.clear();
    second = current;
    const count = (counts.get(line) ?? 0) + 1;
    counts.set(line, count);
    return count <= sampleInitial || (count - sampleInitial) % sampleThereafter === 0;
  };
}
