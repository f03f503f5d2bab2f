import { styleText } from "node:util";
import type { Finding } from "../api/manifest/finding.ts";
import { formatPath } from "../api/problem.ts";
import { type Io, usesColor } from "./io.ts";
import { oneLine } from "./text-table.ts";

/** `pool.yaml:12:5: error: spec.weight: must be at most 100 (expected: 1 to 100) [too-large]`, which editors can open. */
function renderFinding(finding: Finding, { color }: { readonly color: boolean }): string {
  const { source, position, severity, path, message, expected, advice, code } = finding;
  const place = `${source === "-" ? "<stdin>" : source}:${position.line}:${position.column}:`;
  const label = color ? styleText(severity === "error" ? "red" : "yellow", `${severity}:`) : `${severity}:`;
  const field = path.length === 0 ? "" : ` ${formatPath(path)}:`;
  const wanted = expected === undefined ? "" : ` (expected: ${expected})`;
  const todo = advice === undefined ? "" : `; ${advice}`;
  return `${place} ${label}${field} ${oneLine(message)}${wanted}${todo} [${code}]`;
}

/** Prints all findings to standard error, one per line, and returns how many are errors. */
export function reportFindings(findings: readonly Finding[], io: Io): number {
  const color = usesColor(io);
  for (const finding of findings) io.stderr(`${renderFinding(finding, { color })}\n`);
  return findings.filter((finding) => finding.severity === "error").length;
}
