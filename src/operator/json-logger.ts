import { type DestinationStream, pino } from "pino";
import type { Clock } from "../util/clock.ts";
import { errorText } from "../util/error-text.ts";
import { type Logger, type LogLevel, type LogValues, loggerTo } from "../util/logger.ts";

export interface JsonLoggerOptions {
  readonly level: LogLevel;
  readonly destination: DestinationStream;
  readonly clock: Pick<Clock, "now">;
  readonly commit: string;
  /** The value of `logger` in every line; `controller` by default. */
  readonly name?: string | undefined;
}

/** One JSON object per line, as Karpenter logs. (03 §6.3) */
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
    // The message is passed with the values, so that it comes before them: pino would put it last.
    lines[own]({ message, commit, ...withErrorText(values) });
  });
}

/** Errors have no enumerable fields. */
function withErrorText(values: LogValues): LogValues {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, value instanceof Error ? errorText(value) : value]),
  );
}

const sampleInitial = 100;
const sampleThereafter = 100;

/** Per second the first hundred equal lines pass, then one in a hundred. */
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
