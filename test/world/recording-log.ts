import { type Logger, type LogValues, loggerTo } from "../../src/util/logger.ts";

/** A line of the log. */
export interface LogLine extends LogValues {
  readonly level: string;
  readonly message: string;
}

/** A log that ends up in a list. */
export function recordingLog(lines: LogLine[]): Logger {
  return loggerTo(({ level, message, values }) => lines.push({ level, message, ...values }));
}
