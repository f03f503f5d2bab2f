import { parseAst } from "vitest/node";

/** A node of the syntax tree as the parser gives it: ESTree, with TypeScript's own kinds beside it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export function parseTypeScript(source: string): SyntaxNode {
  return parseAst(source, { lang: "ts" }) as unknown as SyntaxNode;
}

/** Names and types: nothing in them runs, or a change of them does not compile. */
const fieldsThatDoNotRun = new Set([
  "typeAnnotation",
  "typeParameters",
  "typeArguments",
  "returnType",
  "superTypeArguments",
]);
const wrappers = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSParameterProperty"]);

/** The nodes below that run, in the order of the source. */
export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return Object.entries(node)
    .filter(([field]) => !fieldsThatDoNotRun.has(field))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isSyntaxNode)
    .filter(runs);
}

function runs({ type, declare }: SyntaxNode): boolean {
  return declare !== true && type !== "ImportDeclaration" && (!type.startsWith("TS") || wrappers.has(type));
}

function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

export function isFunction({ type, body }: SyntaxNode): boolean {
  return (
    (type === "FunctionDeclaration" || type === "FunctionExpression" || type === "ArrowFunctionExpression") &&
    isSyntaxNode(body)
  );
}

/** A node of another under a name, where there is one. */
export function part(node: SyntaxNode, field: string): SyntaxNode | undefined {
  const value = node[field];
  return isSyntaxNode(value) ? value : undefined;
}

export function parts(node: SyntaxNode, field: string): readonly SyntaxNode[] {
  const value = node[field];
  return Array.isArray(value) ? value.filter(isSyntaxNode) : [];
}

/** What is in the parentheses, if it stands in some. */
export function bare(node: SyntaxNode): SyntaxNode {
  const inner = node.type === "ParenthesizedExpression" ? part(node, "expression") : undefined;
  return inner === undefined ? node : bare(inner);
}
