import { Composer, type Document, Lexer, LineCounter, Parser } from "yaml";

/** Limits on the size of one file. */
export const manifestLimits = {
  /** Checked before the file is read. */
  bytes: 32 * 1024 * 1024,
  /** Levels of nesting. The deepest real manifests, CRDs, stay below 60. */
  depth: 200,
  /** Lexical tokens: about a gigabyte of memory at worst. */
  tokens: 4_000_000,
  /** Nodes that aliases may add by repetition. */
  aliasNodes: 200_000,
} as const;

/** Strings that YAML 1.1 readers such as kubectl take for booleans or numbers are quoted. */
export const yamlWriteOptions = { compat: "yaml-1.1" } as const;

export type ParsedYaml =
  | { readonly kind: "parsed"; readonly documents: readonly Document.Parsed[]; readonly lines: LineCounter }
  | {
      readonly kind: "refused";
      readonly code: "too-deep" | "too-large";
      readonly because: string;
      readonly offset: number;
      readonly lines: LineCounter;
    };

/**
 * YAML text to syntax trees. The stages of the library are driven by hand so that depth and size are checked while
 * reading: a stack overflow inside its regular expressions would abort the process, not throw.
 */
export function parseYaml(text: string, { maxTokens = manifestLimits.tokens as number } = {}): ParsedYaml {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  // Our own walk checks that keys are unique: the library compares every pair of keys.
  // Integers are read exactly; the walk makes numbers of those that fit.
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, logLevel: "silent", intAsBigInt: true });
  const documents: Document.Parsed[] = [];
  let tokens = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    if (parser.stack.length > manifestLimits.depth) {
      return refused("too-deep", `nested more than ${manifestLimits.depth} levels deep`);
    }
    tokens += 1;
    if (tokens > maxTokens) {
      return refused("too-large", `more than ${maxTokens.toLocaleString("en-US")} tokens; split the file`);
    }
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  return { kind: "parsed", documents, lines };

  function refused(code: "too-deep" | "too-large", because: string): ParsedYaml {
    return { kind: "refused", code, because, offset: parser.offset, lines };
  }
}
