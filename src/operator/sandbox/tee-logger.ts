import { type Logger, loggerTo } from "../../util/logger.ts";

/** What is written goes to both. */
export function teeLogger(one: Logger, other: Logger): Logger {
  return loggerTo(({ level, message, values }) => {
    one[level](message, values);
    other[level](message, values);
  });
}
