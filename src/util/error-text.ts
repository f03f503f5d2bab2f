/** What an error says, without its causes: for messages that other programs or users of the API read. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error with its causes in one line: for logs and terminals. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const inner =
    error instanceof AggregateError
      ? error.errors.map(errorText)
      : cause === undefined || (cause instanceof Error && error.message.includes(cause.message))
        ? []
        : [errorText(cause)];
  return [error.message, ...inner].filter((text) => text !== "").join(": ") || error.name;
}

/** The code of a system error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
