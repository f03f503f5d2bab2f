import { Document, type LineCounter, type Node, type YAMLError } from "yaml";
import { isRecord } from "../object.ts";
import type { FieldPath } from "../problem.ts";
import { type ManifestDocument, positionIn, yamlNodeAt } from "./document.ts";
import { type Finding, fileStartPosition, type Position } from "./finding.ts";
import { parseYaml, yamlWriteOptions } from "./parse.ts";
import { type OffsetFinding, resolveDocument } from "./resolve.ts";

/** The documents of a file and the findings about it. Documents with errors are left out. */
export interface ManifestSet {
  readonly documents: readonly ManifestDocument[];
  readonly findings: readonly Finding[];
}

/** More errors than this usually follow from the first. */
const maxSyntaxErrors = 20;

/** Reads YAML or JSON text into documents, with Lists unwrapped. Never throws. */
export function readManifests(contents: string, source: string): ManifestSet {
  const text = contents.startsWith("\uFEFF") ? contents.slice(1) : contents;
  const parsed = parseYaml(text);
  if (parsed.kind === "refused") {
    const position = positionAt(parsed.offset, parsed.lines);
    return { documents: [], findings: [unreadableFinding({ source, position, message: parsed.because })] };
  }
  const read = parsed.documents.map((document, index) => {
    const written = asWritten(text, { range: document.range, after: parsed.documents[index - 1]?.range[2] ?? 0 });
    return readDocument(document, { written, source, lines: parsed.lines });
  });
  const documents = read.flatMap((one) => one.documents);
  const findings = read.flatMap((one) => one.findings);
  if (documents.length === 0 && findings.length === 0) {
    findings.push(unreadableFinding({ source, message: "there is no manifest in this file: it is empty" }));
  }
  return { documents, findings };
}

/** An error about a whole file. */
export function unreadableFinding(about: { source: string; position?: Position; message: string }): Finding {
  const { source, message, position = fileStartPosition } = about;
  return { severity: "error", code: "unreadable", source, position, path: [], message };
}

/**
 * The letters of one document, comments above its marker included, the markers themselves not; undefined where they
 * cannot be told apart, as in `--- {a: 1}`.
 */
function asWritten(text: string, { range, after }: { range: readonly number[]; after: number }): string | undefined {
  const [start = 0, , end = start] = range;
  const above = text.slice(after, start);
  const body = text.slice(start, end).replace(/^---[ \t]*\r?\n/, "");
  if (body.startsWith("---") || /^%/m.test(above)) return undefined;
  const written = above + body.replace(/^\.\.\.\s*$/m, "");
  return written.endsWith("\n") ? written : `${written}\n`;
}

interface DocumentContext {
  /** The current document, as written. */
  readonly written: string | undefined;
  readonly source: string;
  readonly lines: LineCounter;
}

function readDocument(document: Document.Parsed, file: DocumentContext): ManifestSet {
  if (document.errors.length > 0) {
    return {
      documents: [],
      findings: document.errors.slice(0, maxSyntaxErrors).map((error) => syntaxFinding(error, file)),
    };
  }
  const tags = document.warnings.map((warning) => tagFinding(warning, file));
  const { value, offsetFindings } = resolveDocument(document);
  const findings = [...tags, ...offsetFindings.map((offsetFinding) => remarkFinding(offsetFinding, file))];
  if (value === null || findings.some((finding) => finding.severity === "error")) return { documents: [], findings };
  return { documents: unwrap(document, value, file), findings };
}

function unwrap(document: Document.Parsed, object: unknown, file: DocumentContext): readonly ManifestDocument[] {
  const items = listItems(object);
  if (items === undefined) {
    return [manifest(document, { object, text: file.written, file })];
  }
  return items.flatMap(({ item, path }) => {
    const own = new Document(null, yamlWriteOptions);
    own.contents = yamlNodeAt(document.contents, path) ?? null;
    return item === null ? [] : [manifest(own, { object: item, text: undefined, file })];
  });
}

function manifest(
  yaml: Document,
  { object, text, file }: { object: unknown; text: string | undefined; file: DocumentContext },
): ManifestDocument {
  const root = yaml.contents as Node | null;
  const { source, lines } = file;
  return { source, object, yaml, text, locationOf: (path) => ({ source, ...positionIn(root, path, lines) }) };
}

/** The items of `kind: List` or a typed list such as NodePoolList, also of lists inside it; undefined for anything else. */
export function listItems(
  object: unknown,
  path: FieldPath = [],
): readonly { readonly item: unknown; readonly path: FieldPath }[] | undefined {
  if (!isRecord(object) || typeof object["kind"] !== "string" || !object["kind"].endsWith("List")) return undefined;
  const items = object["items"];
  if (!Array.isArray(items)) return undefined;
  return items.flatMap((item: unknown, index) => {
    const at = [...path, "items", index];
    return listItems(item, at) ?? [{ item, path: at }];
  });
}

function syntaxFinding(error: YAMLError, { source, lines }: DocumentContext): Finding {
  return unreadableFinding({
    source,
    position: positionAt(error.pos[0], lines),
    message: firstLineLowercased(error.message),
  });
}

function tagFinding(warning: YAMLError, { source, lines }: DocumentContext): Finding {
  const position = positionAt(warning.pos[0], lines);
  const message = firstLineLowercased(warning.message);
  return { severity: "warning", code: "unknown-tag", source, position, path: [], message, advice: "remove the tag" };
}

function remarkFinding(offsetFinding: OffsetFinding, { source, lines }: DocumentContext): Finding {
  const { offset, ...rest } = offsetFinding;
  return { ...rest, source, position: positionAt(offset, lines) };
}

function positionAt(offset: number, lines: LineCounter): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

/** The library's messages start with a capital and may span lines; ours do not. */
function firstLineLowercased(message: string): string {
  const first = message.split("\n", 1)[0] ?? message;
  return first.charAt(0).toLowerCase() + first.slice(1);
}
