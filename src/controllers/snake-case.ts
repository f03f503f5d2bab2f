/** `PIDPressure` as metrics spell it: `pid_pressure`. */
export function snakeCase(text: string): string {
  return text.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toLowerCase();
}
