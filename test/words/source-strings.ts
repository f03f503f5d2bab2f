import { readSources } from "../architecture/sources.ts";
import { childrenOf, parseTypeScript, part, parts, type SyntaxNode } from "../mutation/syntax.ts";

/** A text in the source: a string, or a template with `…` where something is put in. */
export interface SourceString {
  /** Relative to src. */
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** The property it is the value of, where it stands right behind one. */
  readonly property: string | undefined;
}

/** Every string and template literal that runs, in all of src. */
export function sourceStrings(): readonly SourceString[] {
  return readSources().flatMap(({ file, text }) => stringsIn(file, text));
}

export function stringsIn(file: string, source: string): readonly SourceString[] {
  const found: SourceString[] = [];
  const visit = (node: SyntaxNode, property: string | undefined): void => {
    const text = textOf(node);
    if (text !== undefined) found.push({ file, line: lineAt(source, node.start), text, property });
    for (const child of childrenOf(node)) visit(child, propertyOf(node, child));
  };
  visit(parseTypeScript(source), undefined);
  return found;
}

function textOf(node: SyntaxNode): string | undefined {
  if (node.type === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node.type !== "TemplateLiteral") return undefined;
  return parts(node, "quasis")
    .map((quasi) => (quasi["value"] as { readonly cooked: string }).cooked)
    .join("…");
}

function propertyOf(parent: SyntaxNode, child: SyntaxNode): string | undefined {
  if (parent.type !== "Property" || part(parent, "value") !== child) return undefined;
  const key = part(parent, "key");
  return typeof key?.["name"] === "string" ? key["name"] : undefined;
}

function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split("\n").length;
}
