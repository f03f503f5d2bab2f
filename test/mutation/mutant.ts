/** What a mutant changes. Closed, so that a run can count by it. */
export type MutantKind =
  | "condition"
  | "operator"
  | "boundary"
  | "statement"
  | "entry"
  | "constant"
  | "await"
  | "call"
  | "fallback";

/** One small fault in one source file: the text between two offsets becomes another. */
export interface Mutant {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly line: number;
  readonly kind: MutantKind;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** The function it is in (`functions.ts`); code outside of functions runs once, when the module is loaded. */
  readonly inFunction: string | undefined;
}

export function withMutant(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

/** `src/kube/view.ts:12 condition: <before> => <after>`, in one line. */
export function mutantText(source: string, mutant: Mutant): string {
  const before = oneLine(source.slice(mutant.start, mutant.end));
  const after = mutant.replacement === "" ? "(removed)" : oneLine(mutant.replacement);
  return `${mutant.file}:${mutant.line} ${mutant.kind}: ${before} => ${after}`;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 90 ? `${line.slice(0, 87)}...` : line;
}
