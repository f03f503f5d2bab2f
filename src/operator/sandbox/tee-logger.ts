import { type Logger, loggerTo } from "../../util/logger.ts";

/** Writes every line to both. */
export function teeLogger(one: Logger, other: Logger): Logger {
  return loggerTo(({ level, message, values }) => {
    one[level](message, values);
    other[level](message, values);
  });
}
