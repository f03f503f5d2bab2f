/** Structured values of a log line; may include errors. */
export type LogValues = Readonly<Record<string, unknown>>;

export const logLevels = ["debug", "info", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Structured log; formatting is up to the writer. */
export interface Logger {
  debug(message: string, values?: LogValues): void;
  info(message: string, values?: LogValues): void;
  error(message: string, values?: LogValues): void;
  /** A logger that adds these values to every line. */
  with(values: LogValues): Logger;
}

/** A complete log line. */
export interface LoggedLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly values: LogValues;
}

/** A logger that passes its lines to a function. */
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

/** A logger that writes nothing. */
export const silentLogger: Logger = { debug: () => {}, info: () => {}, error: () => {}, with: () => silentLogger };
