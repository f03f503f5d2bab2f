/** An error in one line, with what caused it. */
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
