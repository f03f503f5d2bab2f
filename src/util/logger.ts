/** What a log line carries beside its message. Errors may be among them. */
export type LogValues = Readonly<Record<string, unknown>>;

export const logLevels = ["debug", "info", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Where our code writes its log: lines are data, and how they look is the business of whoever reads them. */
export interface Logger {
  debug(message: string, values?: LogValues): void;
  info(message: string, values?: LogValues): void;
  error(message: string, values?: LogValues): void;
  /** The same log, with these values in every line. */
  with(values: LogValues): Logger;
}

/** A whole line: its message, and the values of the log it was written to with its own. */
export interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly values: LogValues;
}

/** A log whose lines go to one function. */
export function loggerTo(write: (line: LoggedLine) => void, values: LogValues = {}): Logger {
  const writer = (level: LogLevel) => (message: string, more?: LogValues) => {
    write({ level, message, values: more === undefined ? values : { ...values, ...more } });
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    error: writer("error"),
    with: (more) => loggerTo(write, { ...values, ...more }),
  };
}

/** Writes nothing. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, error: () => {}, with: () => silentLogger };
