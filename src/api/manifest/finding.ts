import type { FieldPath, ProblemCode } from "../problem.ts";

/** Where in a file, counted from one as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A position, and the file it is in. */
export interface SourceLocation extends Position {
  readonly source: string;
}

export const fileStartPosition: Position = { line: 1, column: 1 };

/** What a user may want to know although the file could be read. */
export const readingWarningCodes = ["yaml-1.1-boolean", "unknown-tag"] as const;
export type ReadingWarningCode = (typeof readingWarningCodes)[number];

/** An error or warning about a file, with its position. */
export interface Finding<WarningCode extends string = string> {
  readonly severity: "error" | "warning";
  readonly code: ProblemCode | ReadingWarningCode | WarningCode;
  /** The file as the user named it; `-` is standard input. */
  readonly source: string;
  readonly position: Position;
  readonly path: FieldPath;
  readonly message: string;
  readonly expected?: string;
  readonly rule?: string;
  /** What the user can do about it. */
  readonly advice?: string;
}

/** Findings by file, in the order given, then by line. */
export function sortedFindings(findings: readonly Finding[], sources: readonly string[]): readonly Finding[] {
  const rank = new Map(
    [...new Set([...sources, ...findings.map((finding) => finding.source)])].map((file, i) => [file, i]),
  );
  return [...findings].sort(
    (a, b) =>
      (rank.get(a.source) ?? 0) - (rank.get(b.source) ?? 0) ||
      a.position.line - b.position.line ||
      a.position.column - b.position.column,
  );
}
