import { cpus, loadavg } from "node:os";
import { markdown } from "./report.ts";

/** Something measured, and what we promise of it. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  /** None: for information. */
  readonly bar?: string;
  readonly isKept?: boolean;
}

/** A number that must stay below a bar. */
export function below(
  what: string,
  value: number,
  { bar, unit }: { readonly bar: number; readonly unit: string },
): Figure {
  const digits = bar < 2 ? 3 : value < 20 ? 1 : 0;
  return { what, measured: `${value.toFixed(digits)} ${unit}`, bar: `< ${bar} ${unit}`, isKept: value < bar };
}

export function holds(what: string, isKept: boolean, measured: string): Figure {
  return { what, measured, bar: "yes", isKept };
}

export function told(what: string, measured: string): Figure {
  return { what, measured };
}

/** Prints the table; the exit code says whether all bars were kept. */
export function show(title: string, figures: readonly Figure[]): void {
  console.log(`${title}; ${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}\n`);
  const verdict = ({ isKept }: Figure): string => (isKept === undefined ? "" : isKept ? "ok" : "MISS");
  const rows = figures.map((one) => [one.what, one.measured, one.bar ?? "", verdict(one)]);
  console.log(markdown([["", "measured", "bar", ""], ...rows]));
  if (figures.some(({ isKept }) => isKept === false)) process.exitCode = 1;
}
